//! What `headway._headway` has: thin wrappers whose answers are JSON, the same that the
//! command line prints. What users see is in `headway/*.py`.

use headway_sim::settings::{RingProgram, Start};
use pyo3::prelude::*;
use strum::VariantNames;

mod check;
mod failure;
mod frame;
mod long;
mod petri;
mod plan;
mod ring;
mod sweep;
mod walk;

#[pymodule]
fn _headway(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add(
        "HeadwayError",
        module.py().get_type::<failure::HeadwayError>(),
    )?;
    module.add(
        "MODELS",
        headway_answer::check::models().collect::<Vec<_>>(),
    )?;
    module.add("PROGRAMS", RingProgram::LOCK_STEP.to_vec())?;
    module.add("STARTS", <Start as VariantNames>::VARIANTS.to_vec())?;
    let experiments = headway_lab::shipped::EXPERIMENTS.iter();
    module.add(
        "EXPERIMENTS",
        experiments.map(|(name, _)| *name).collect::<Vec<_>>(),
    )?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<ring::Instance>()?;
    module.add_class::<petri::Net>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_function(wrap_pyfunction!(ring::forecast_many, module)?)?;
    module.add_function(wrap_pyfunction!(ring::worst_case, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_model, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_protocol, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(walk::walk, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::experiment, module)?)?;
    Ok(())
}
