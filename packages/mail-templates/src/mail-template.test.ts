import { expect, test } from "vitest";
import { cacheTemplates } from "./cache-templates.ts";
import { type MailTemplateSource, parseMailTemplate } from "./mail-template.ts";

async function render(source: Partial<MailTemplateSource>, variables: Record<string, unknown> = {}) {
  return parseMailTemplate({ subject: "s", ...source }).render(variables);
}

async function codeOf(source: Partial<MailTemplateSource>, variables: Record<string, unknown> = {}) {
  const error: unknown = await render(source, variables).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "TemplateError", failureKind: "permanent" });
  expect(String(error)).not.toContain("SECRET");
  return error;
}

test("values are escaped in html and nowhere else", async () => {
  const source = { subject: "{{ name }}", html: "<p>{{ name }} {{ name | raw }}</p>", text: "{{ name }}" };
  expect(await render(source, { name: "<b>&" })).toEqual({
    subject: "<b>&",
    html: "<p>&lt;b&gt;&amp; <b>&</p>",
    text: "<b>&",
  });
});

test("a subject is one line, whatever its variables hold", async () => {
  const mail = await render({ subject: "Hello {{ name }}" }, { name: "Ada\r\nBcc: eve@example.com\0\u2028x" });
  expect(mail.subject).toBe("Hello Ada Bcc: eve@example.com x");
});

test("a variable that is missing is an error that names it, but for `if` and `default`", async () => {
  expect(await codeOf({ text: "Dear {{ user.name }}" }, { user: { secret: "SECRET" } })).toMatchObject({
    code: "template_variable_missing",
    part: "text",
    message: expect.stringContaining("user.name"),
  });
  const source = { text: '{% if vip %}Dear{% else %}Hello{% endif %} {{ name | default: "you" }}' };
  expect((await render(source)).text).toBe("Hello you");
});

test.each([
  ["a tag that is not closed", { html: "{% if a %}" }],
  ["an unknown filter", { html: "{{ 1 | nope }}" }],
  ["an unknown tag", { text: "{% nope %}" }],
  ["another file", { text: '{% include "/etc/passwd" %}' }],
  ["another file's rendering", { text: '{% render "x" %}' }],
  ["a layout", { text: '{% layout "x" %}' }],
  ["half a million characters", { text: "x".repeat(500_001) }],
])("%s is refused before it is stored", (_, source) => {
  expect(() => parseMailTemplate({ subject: "s", ...source })).toThrow(
    expect.objectContaining({ name: "TemplateError", part: Object.keys(source)[0] }),
  );
});

test.each([
  ["a loop without end", "{% for i in (1..100000000) %}x{% endfor %}"],
  ["loops in loops", "{% for i in (1..9999) %}{% for j in (1..9999) %}{% assign x = j %}{% endfor %}{% endfor %}"],
  [
    "a text that doubles",
    '{% assign x = "xxxxxxxxxxxxxxxx" %}{% for i in (1..40) %}{% assign x = x | append: x %}{% endfor %}',
  ],
  ["more than a mail can hold", "{% for i in (1..9999) %}{% for j in (1..300) %}x{% endfor %}{% endfor %}"],
])("%s is cut short", async (_, text) => {
  expect(await codeOf({ text })).toMatchObject({ code: "template_too_costly" });
});

test.each(["constructor", "__proto__", "toString", "name.constructor", "name.length.constructor"])(
  "%s of a value's prototype is out of reach",
  async (path) => {
    expect(await codeOf({ text: `{{ ${path} }}` }, { name: "SECRET" })).toMatchObject({
      code: "template_variable_missing",
    });
  },
);

test("an empty subject, or one of more than a line may hold, is an error", async () => {
  expect(await codeOf({ subject: "{{ a }}" }, { a: " " })).toMatchObject({ code: "template_invalid" });
  expect(await codeOf({ subject: "{{ a }}" }, { a: "SECRET".repeat(200) })).toMatchObject({ code: "template_invalid" });
});

test("a version is parsed once, and the one that was not used for longest gives way", () => {
  const cached = cacheTemplates(2);
  const template = (version: number) => ({ version, subject: `${version}` });
  const [first, second] = [cached(template(1)), cached(template(2))];
  expect(cached(template(1))).toBe(first);
  cached(template(3));
  expect(cached(template(1))).toBe(first);
  expect(cached(template(2))).not.toBe(second);
});
