//! Prints the IDL: `cargo run --features idl --bin idl -- PROGRAM_ID`.

fn main() {
    let address = std::env::args().nth(1).expect("the default program id is the one argument");
    println!("{}", marketplace::idl::render(&address));
}
