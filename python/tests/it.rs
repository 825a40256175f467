//! Runs the tests of the Python package on the module that cargo has just compiled. Names given
//! to `cargo test -p headway-python` select tests of pytest; `conftest.py` reads how much they do.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use headway_testkit::tools;

/// What every tier uses, as Python imports it.
const MODULES: [&str; 6] = [
    "hypothesis",
    "networkx",
    "numpy",
    "pyarrow",
    "pytest",
    "tqdm",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(is_name)
        .collect();
    let python = match tools::python(&MODULES, &MODULES.join(", ")) {
        Ok(python) => python,
        Err(why) => {
            tools::skip("python", &why);
            return ExitCode::SUCCESS;
        }
    };
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deps = env::current_exe().expect("a path");
    let deps = deps.parent().expect("a folder");
    let packages = lay_out(home, deps).expect("the package can be copied");
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "-c"]);
    pytest.args([home.join("pyproject.toml"), home.join("tests")]);
    // Not from here, where Python would find the sources, without the module.
    pytest.current_dir(&packages).env("PYTHONPATH", &packages);
    if !names.is_empty() {
        pytest.args(["-k", &names.join(" or ")]);
    }
    if env::var_os("HEADWAY_PROGRAM").is_none() {
        pytest.env("HEADWAY_PROGRAM", deps.join("../headway"));
    }
    match pytest.status().expect("Python runs").code() {
        // 5: no test has such a name, which is none of this program's either.
        Some(0 | 5) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Neither one of libtest's flags nor the name of a Rust test in a module.
fn is_name(argument: &&str) -> bool {
    !argument.starts_with('-') && !argument.contains("::")
}

/// The package as a wheel installs it; its folder's parent.
fn lay_out(home: &Path, deps: &Path) -> io::Result<PathBuf> {
    use env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let package = packages.join("headway");
    if packages.exists() {
        fs::remove_dir_all(&packages)?;
    }
    fs::create_dir_all(&package)?;
    for file in fs::read_dir(home.join("headway"))? {
        let file = file?;
        if file.file_type()?.is_file() {
            fs::copy(file.path(), package.join(file.file_name()))?;
        }
    }
    let module = deps.join(format!("{DLL_PREFIX}_headway{DLL_SUFFIX}"));
    fs::copy(module, package.join("_headway.abi3.so"))?;
    Ok(packages)
}
