//! Lets the C compiler check that src/interface.rs has the layout of
//! controllers/algorithms/interface.h.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[allow(dead_code)]
#[path = "src/interface.rs"]
mod interface;

fn main() {
    const HEADER: &str = "../../controllers/algorithms/interface.h";
    println!("cargo::rerun-if-changed={HEADER}");
    println!("cargo::rerun-if-changed=src/interface.rs");
    let mut source = format!("#include \"{HEADER}\"\n");
    let version = interface::VERSION;
    let mut require = |condition: String| {
        writeln!(source, "_Static_assert({condition}, \"src/interface.rs differs\");").unwrap();
    };
    require(format!("KNEEPOINT_INTERFACE_VERSION == {version}"));
    for (name, size, members) in interface::LAYOUTS {
        require(format!("sizeof(struct {name}) == {size}"));
        for (member, offset) in *members {
            require(format!("offsetof(struct {name}, {member}) == {offset}"));
        }
    }
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    let mut check = Command::new(&compiler)
        .args(["-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("the C compiler {compiler} does not start: {error}"));
    check.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success(), "src/interface.rs is not {HEADER}");
}
