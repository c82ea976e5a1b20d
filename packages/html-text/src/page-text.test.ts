import { expect, test } from "vitest";
import { pageText } from "./index.ts";

test("a page is what a person reads of it, and nesting without end costs nothing", () => {
  const html =
    "<head><title>A &amp; B</title><style>p{}</style></head><h1>Mill</h1><p>It <b>turns</b>.</p><script>x</script><ul><li>one<li>two</ul>";
  expect(pageText(html)).toEqual({ title: "A & B", text: "Mill\n\nIt turns.\n\none\n\ntwo" });
  const startedAt = performance.now();
  expect(pageText(`Before<p>${"<b>".repeat(150_000)}deep`).text).toMatch(/^Before/);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
