//! The least that talks HTTP/1.1: a client that costs as little as can be, so that the server is what is measured.

use std::error::Error;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::task::TaskSet;

pub(crate) const JSON: &str = "application/json";

/// One connection.
pub(crate) struct Connection {
    host: String,
    sender: SendRequest<Full<Bytes>>,
    _task: TaskSet,
}

// === impl Connection ===

impl Connection {
    /// Connects to `url`, which is `http://host:port`.
    pub(crate) async fn open(url: &str) -> Result<Self, Box<dyn Error>> {
        let host = url.strip_prefix("http://").ok_or("the URL is not http")?;
        let socket = TcpStream::connect(host).await?;
        socket.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(socket)).await?;
        let mut task = TaskSet::new();
        task.spawn(async move {
            // A request that waits for its answer reports the error, too.
            let _ = connection.await;
        });
        Ok(Self {
            host: host.to_owned(),
            sender,
            _task: task,
        })
    }

    /// Sends a request; its answer must be a success.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>, Box<dyn Error>> {
        self.send_as(JSON, method, path, body).await
    }

    /// The same; the answer is to be of this media type.
    async fn send_as(
        &mut self,
        accept: &str,
        method: &str,
        path: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>, Box<dyn Error>> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.host)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, JSON)
            .body(Full::new(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let code: StatusCode = response.status();
        if !code.is_success() {
            let text = response.into_body().collect().await?.to_bytes();
            let text = String::from_utf8_lossy(&text);
            return Err(format!("{method} {path}: {code}: {text}").into());
        }
        Ok(response)
    }

    /// The same, and reads the whole answer.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: Bytes,
    ) -> Result<Bytes, Box<dyn Error>> {
        let response = self.send(method, path, body).await?;
        Ok(response.into_body().collect().await?.to_bytes())
    }

    /// Reads the answer to a GET of this media type, and drops it as it comes; gives how long it was.
    pub(crate) async fn skim(&mut self, path: &str, accept: &str) -> Result<u64, Box<dyn Error>> {
        let response = self.send_as(accept, "GET", path, Bytes::new()).await?;
        let mut body = response.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                length += data.len() as u64;
            }
        }
        Ok(length)
    }
}
