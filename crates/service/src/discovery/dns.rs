//! SRV records.

use std::net::SocketAddr;

use hickory_resolver::Resolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::name_server::TokioConnectionProvider;
use hickory_resolver::proto::xfer::Protocol;

pub(super) async fn list(
    name: &str,
    server: Option<SocketAddr>,
) -> Result<Vec<(String, String)>, String> {
    let builder = match server {
        None => Resolver::builder_tokio().map_err(|error| error.to_string())?,
        Some(server) => {
            let mut config = ResolverConfig::new();
            config.add_name_server(NameServerConfig::new(server, Protocol::Udp));
            Resolver::builder_with_config(config, TokioConnectionProvider::default())
        }
    };
    // With the dot at its end the name is complete.
    let complete = format!("{}.", name.trim_end_matches('.'));
    let records = builder.build().srv_lookup(complete).await;
    let records = records.map_err(|error| error.to_string())?;
    let member = |record: &hickory_resolver::proto::rr::rdata::SRV| {
        let target = record.target().to_utf8();
        let host = target.trim_end_matches('.');
        let name = host.split('.').next().unwrap_or_default();
        (name.to_owned(), format!("{host}:{}", record.port()))
    };
    Ok(records.iter().map(member).collect())
}
