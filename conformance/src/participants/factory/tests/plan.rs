//! Drawing and shrinking of factories.

use super::super::{FactoryAct, FactoryActKind, FactoryPlan, ViewPlan};
use crate::{
    plan::{Profile, Resource, Selection},
    seed::Seed,
    sim::{Plan, shrink::Shrinker},
};

#[test]
fn two_fifths_of_the_plans_have_a_factory_and_factories_differ() {
    let plans: Vec<Plan> = (0..300).map(|seed| Plan::draw(Seed::new(seed))).collect();
    let factories: Vec<&FactoryPlan> = plans
        .iter()
        .filter_map(|plan| plan.participants.factory.as_ref())
        .collect();
    assert!((95..=145).contains(&factories.len()), "{}", factories.len());
    let views = || factories.iter().flat_map(|factory| &factory.views);
    assert!(views().any(|view| view.transforms));
    assert!(views().any(|view| view.selection.namespace.is_some()));
    let has = |is_kind: fn(&FactoryActKind) -> bool| {
        let mut acts = factories.iter().flat_map(|factory| &factory.acts);
        assert!(acts.any(|act| is_kind(&act.kind)));
    };
    has(|kind| matches!(kind, FactoryActKind::Stop));
    has(|kind| matches!(kind, FactoryActKind::Restart(1..)));
    has(|kind| matches!(kind, FactoryActKind::Renew));
    has(|kind| matches!(kind, FactoryActKind::Release(_)));
    has(|kind| matches!(kind, FactoryActKind::Remove(_)));
    let brief = Plan::draw_sized(Seed::new(1), Profile::Brief);
    assert_eq!(brief.participants.factory, None);
}

#[test]
fn a_factory_shrinks_to_what_matters() {
    let mut plan = Plan::empty(Seed::new(1));
    let view = |resource| ViewPlan {
        transforms: true,
        ..ViewPlan::of(Selection {
            label: Some("web".to_owned()),
            ..Selection::all(resource)
        })
    };
    let mut factory = FactoryPlan::of(vec![view(Resource::Pods), view(Resource::Nodes)]);
    factory.page_size = 1;
    let act = FactoryAct::new;
    factory.acts = vec![
        act(10, FactoryActKind::Request(0)),
        act(20, FactoryActKind::Request(1)),
        act(3_000, FactoryActKind::Start),
        act(4_000, FactoryActKind::Join(1)),
        act(5_000, FactoryActKind::Restart(7)),
    ];
    plan.participants.factory = Some(factory);
    let fails = |plan: &Plan| {
        plan.participants.factory.iter().any(|factory| {
            let joins = |act: &FactoryAct| match act.kind {
                FactoryActKind::Join(view) => factory.views.get(view).cloned(),
                _ => None,
            };
            let mut joined = factory.acts.iter().filter_map(joins);
            joined.any(|view| view.selection.resource == Resource::Nodes)
        })
    };
    let mut shrinker = Shrinker::new(plan.clone());
    while let Some(proposed) = shrinker.propose() {
        let still_fails = fails(proposed);
        shrinker.judge(still_fails);
    }
    let smallest = shrinker.smallest();
    assert_eq!(
        serde_json::to_string(&smallest.participants.factory).unwrap(),
        r#"{"page_size":500,"views":[{"selection":{"resource":"nodes"}}],"acts":[{"at_ms":0,"kind":{"join":0}}]}"#
    );
    assert_eq!(Plan::from_text(&smallest.to_text()).unwrap(), *smallest);
    let mut shrinker = Shrinker::new(plan);
    while shrinker.propose().is_some() {
        shrinker.judge(true);
    }
    assert_eq!(shrinker.smallest().participants.factory, None);
}
