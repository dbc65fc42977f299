use oz0_diagnostic::*;
static C: Check = Check { code: "OZ-L001", name: "x", level: Level::Error };
#[test]
fn shows() {
    let f = SourceFile::new("oz0-plugin.yaml", "name: github\r\n\tk: \u{1b}[31m日本 \u{202e}x\r\nname: y\r\n");
    let o = SourceFile::new("o.yaml", "");
    let n = f.text().find("日").unwrap();
    let ds = [
      Diagnostic::new(&C, Span::new(&f, 0..4), "the key `\u{1b}[0m` twice").help("do\nthis").related(Span::new(&f, n..n+6), "here").related(Span::start_of(&o), "and there"),
      Diagnostic::new(&C, Span::new(&f, f.text().len()..f.text().len()), "end"),
      Diagnostic::new(&C, Span::new(&f, 6..n), "multi"),
    ];
    println!("{}{}", report::pretty(&ds, report::Color::Never), report::concise(&ds));
}
