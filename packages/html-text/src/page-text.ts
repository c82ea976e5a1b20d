import { Parser } from "htmlparser2";

// A parser's work per element grows with those that are open.
const deepest = 500;
const silent = /^(script|style|noscript|template|svg|head|iframe|object|select)$/;
const block =
  /^(address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|tr|ul)$/;

/**
 * The title and the text of a page of others as a person reads it: blocks on lines of their own, without scripts and styles. It takes a time that
 * grows with the page alone and refuses none: what is nested deeper than any page is left out, with all that follows it.
 */
export function pageText(html: string): { readonly title: string; readonly text: string } {
  let [title, text] = ["", ""];
  let isTitle = false;
  let [depth, silentDepth] = [0, 0];
  const parser = new Parser({
    onopentagname: (name) => {
      depth += 1;
      if (depth > deepest) parser.pause();
      if (name === "title") isTitle = true;
      if (silent.test(name)) silentDepth += 1;
      if (block.test(name)) text += "\n";
      if (name === "td" || name === "th") text += " ";
    },
    ontext: (piece) => {
      if (isTitle) title += piece;
      else if (silentDepth === 0) text += piece.replace(/\s+/g, " ");
    },
    onclosetag: (name) => {
      depth -= 1;
      if (name === "title") isTitle = false;
      if (silent.test(name)) silentDepth -= 1;
      if (block.test(name)) text += "\n";
    },
  });
  parser.write(html);
  if (depth <= deepest) parser.end();
  const lines = text.split("\n").map((line) => line.replace(/ {2,}/g, " ").trim());
  return {
    title: title.trim(),
    text: lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
  };
}
