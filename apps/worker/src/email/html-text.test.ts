import { expect, test } from "vitest";
import { textOf } from "./html-text.ts";

test.each(["<b>", "<table><tr><td>", "<div></x>", "<div><!--</div>-->", '<div><i title="</div>">', "<ul><li>"])(
  "%s in each other without end is refused at once, and not after minutes",
  (element) => {
    const html = element.repeat(100_000);
    const startedAt = performance.now();
    expect(() => textOf(html)).toThrow(expect.objectContaining({ failureKind: "permanent", code: "html_too_deep" }));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  },
);

test("what a mail is made of is no depth: many elements beside each other, and some in each other", () => {
  const row = "<tr><td>one<br>two<img src=x></td></tr>";
  const html = `${"<div><table><tr><td>".repeat(40)}<table>${row.repeat(2_000)}</table><p>three<p>four`;
  expect(textOf(html)).toMatch(/one\s*two.*three.*four/s);
});
