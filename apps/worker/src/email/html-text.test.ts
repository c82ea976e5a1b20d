import { expect, test } from "vitest";
import { textOf } from "./html-text.ts";

test.each(["<b>", "<table><tr><td>", "<div></x>", "<div><!--</div>-->", '<div><i title="</div>">', "<blockquote><p>x"])(
  "%s in each other without end is refused at once, and not after minutes",
  (element) => {
    const html = element.repeat(20_000);
    const startedAt = performance.now();
    expect(() => textOf(html)).toThrow(expect.objectContaining({ failureKind: "permanent", code: "html_too_costly" }));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  },
);

test("what every line of is long, and what is long itself, is refused as well", () => {
  for (const html of [`${"<blockquote>".repeat(100)}${"<p>x".repeat(20_000)}`, "<hr>".repeat(200_000)]) {
    expect(() => textOf(html)).toThrow(expect.objectContaining({ code: "html_too_costly" }));
  }
});

test("what a mail is made of is no depth: many elements beside each other, and some in each other", () => {
  const row = "<tr><td>one<br>two<img src=x></td></tr>";
  const html = `${"<div><table><tr><td>".repeat(40)}<table>${row.repeat(2_000)}</table><p>three<p>four`;
  expect(textOf(html)).toMatch(/one\s*two.*three.*four/s);
});
