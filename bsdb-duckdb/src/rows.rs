//! `bsdb_rows(path, keys)`: the records of some keys, in their order.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::ffi::{chunk_rows, Bind, Chunk, LogicalType, Simple, TableFunction};
use crate::keys::key_of;
use crate::scan::{options, path_of, Columns};
use crate::source::{Lease, Opened, Pin};

pub struct RowsFunction;

pub struct Plan {
    pin: Arc<Pin>,
    opened: Arc<Opened>,
    columns: Columns,
    keys: Vec<Vec<u8>>,
}

pub struct Execution {
    lease: Arc<Lease>,
    wanted: Vec<usize>,
    next: AtomicUsize,
}

impl TableFunction for RowsFunction {
    const NAME: &'static CStr = c"bsdb_rows";
    type Bound = Plan;
    type Shared = Execution;
    type Own = ();

    fn parameters() -> (Vec<LogicalType>, Vec<(&'static CStr, LogicalType)>) {
        (vec![Simple::Varchar.into(), Simple::Any.into()], options())
    }

    fn bind(bind: &Bind<'_>) -> Result<Plan, String> {
        let pin = Pin::new(&path_of(bind)?, bind.context().as_ref())?;
        let opened = pin.opened();
        let mut keys = Vec::new();
        if let Some(given) = bind.argument(1).filter(|keys| !keys.is_null()) {
            if given.is_list() {
                keys.extend(given.items().filter(|key| !key.is_null()).map(|key| key_of(&key)));
            } else {
                keys.push(key_of(&given));
            }
        }
        let columns = Columns::declare(bind, &opened)?;
        bind.set_rows(keys.len() as u64, true);
        Ok(Plan { pin, opened, columns, keys })
    }

    fn begin(plan: &Plan, wanted: Vec<usize>) -> Result<(Execution, u64), String> {
        let lease = plan.pin.lease()?;
        if lease.opened.database.schema() != plan.opened.database.schema() {
            let location = &lease.opened.location;
            return Err(format!("{location}: the new version has other columns; prepare the statement again"));
        }
        Ok((Execution { lease, wanted, next: AtomicUsize::new(0) }, 1))
    }

    fn next(plan: &Plan, execution: &Execution, (): &mut (), chunk: &mut Chunk<'_>) -> Result<(), String> {
        let opened = &*execution.lease.opened;
        let from = execution.next.fetch_add(chunk_rows(), Ordering::Relaxed).min(plan.keys.len());
        let keys = &plan.keys[from..plan.keys.len().min(from + chunk_rows())];
        let mut writer = plan.columns.writer(opened, &execution.wanted, chunk)?;
        let mut failed = None;
        let found = opened.database.find_many(keys, |i, value| {
            if failed.is_none() {
                failed = writer.write(i, &keys[i], value).err();
            }
        });
        found.map_err(|error| opened.explain(&error))?;
        match failed {
            Some(error) => Err(error),
            None => {
                writer.finish();
                chunk.set_rows(keys.len());
                Ok(())
            }
        }
    }
}
