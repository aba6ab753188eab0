//! Lines over a count that grows by factors.

use std::io;

use plotters::{coord::Shift, prelude::*};

/// The points of one client or server, by count.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) title: &'static str,
    /// Counts, with what was measured at each.
    pub(crate) points: Vec<(u32, f64)>,
}

/// Draws all lines over `counted`, each with its title, in an area that is called `caption`.
pub(crate) fn plot_lines(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    caption: &str,
    counted: &str,
    lines: &[Line],
) -> Result<(), DrawingAreaErrorKind<io::Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let counts = || points().map(|(count, _)| *count);
    let first = counts().min().unwrap_or(1).max(1);
    let last = counts().max().unwrap_or(1).max(first);
    let most = points().map(|(_, value)| *value).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(35)
        .y_label_area_size(65)
        // Room for the titles above, and for the last point.
        .build_cartesian_2d((first..last + last / 4 + 1).log_scale(), 0.0..most * 1.6)?;
    chart.configure_mesh().x_desc(counted).draw()?;
    for (place, line) in lines.iter().enumerate() {
        let color = Palette99::pick(place).to_rgba();
        let points = line.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), color))?
            .label(line.title)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 15, y)], color));
        chart.draw_series(points.map(|point| Circle::new(point, 3, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}
