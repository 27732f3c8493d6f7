//! A table of statistics.

/// The names and the values of a column. All columns have the same names.
pub type Column<const ROWS: usize> = [(&'static str, String); ROWS];

/// Prints columns side by side.
pub fn print<const ROWS: usize>(columns: &[Column<ROWS>]) {
    for row in 0..ROWS {
        print!("{:<52}", columns[0][row].0);
        for column in columns {
            print!("{:>16}", column[row].1);
        }
        println!();
    }
}
