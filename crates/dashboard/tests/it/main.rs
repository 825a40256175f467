//! The server over real sockets, the page in real browsers, and the page without a server.

use std::net::SocketAddr;

use headway_dashboard::{Options, Server};

mod browser;
mod load;
mod modules;
mod server;
mod wasm;

/// A server at any free port of this machine, which ends with the process.
fn serve(options: Options) -> SocketAddr {
    let (sender, address) = std::sync::mpsc::channel();
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async move {
            let server = Server::bind(Options { listen, ..options }).expect("a free port");
            let address = server.address().expect("an address");
            sender.send(address).expect("a test that waits");
            server.serve(std::future::pending()).await;
        });
    });
    address.recv().expect("a server")
}
