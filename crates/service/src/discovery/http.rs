//! Consul and Kubernetes, over plain HTTP: a local agent, or `kubectl proxy`.

use axum::http::StatusCode;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::client::exchange;

type Listed = Result<Vec<(String, String)>, String>;

pub(super) async fn consul(host: &str, service: &str) -> Listed {
    // Also those that are not well: they are down for a while, and stay members.
    let answer = get(host, &format!("/v1/health/service/{service}")).await?;
    let instances = answer.as_array().ok_or("expected a list")?;
    let member = |instance: &Value| {
        let (node, service) = (&instance["Node"], &instance["Service"]);
        let own = service["Address"].as_str().filter(|own| !own.is_empty());
        let address = own.or(node["Address"].as_str()).unwrap_or_default();
        let port = service["Port"].as_u64().unwrap_or_default();
        (text(&node["Node"]), joined(address, port))
    };
    Ok(instances.iter().map(member).collect())
}

pub(super) async fn kubernetes(host: &str, namespace: &str, service: &str) -> Listed {
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices\
         ?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
    );
    let answer = get(host, &path).await?;
    let slices = answer["items"].as_array().ok_or("expected `items`")?;
    let mut members = Vec::new();
    for slice in slices {
        let ports = slice["ports"].as_array().map_or(&[][..], Vec::as_slice);
        let named = ports.iter().find(|port| port["name"] == "headway");
        let port = named.or(ports.first()).map(|port| &port["port"]);
        let port = port.and_then(Value::as_u64).unwrap_or_default();
        for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
            let address = endpoint["addresses"][0].as_str().unwrap_or_default();
            members.push((text(&endpoint["targetRef"]["name"]), joined(address, port)));
        }
    }
    Ok(members)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn joined(address: &str, port: u64) -> String {
    if address.contains(':') {
        format!("[{address}]:{port}")
    } else {
        format!("{address}:{port}")
    }
}

async fn get(host: &str, path: &str) -> Result<Value, String> {
    let stream = TcpStream::connect(host).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let answer = exchange(stream, host, "GET", path, None).await;
    let (status, body) = answer.map_err(|error| error.to_string())?;
    if status != StatusCode::OK {
        return Err(format!("it answers {status}"));
    }
    serde_json::from_slice(&body).map_err(|error| format!("not JSON: {error}"))
}
