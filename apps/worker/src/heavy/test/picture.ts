import sharp, { type Sharp } from "sharp";

/** The letters as strokes in a box of 60 × 100: a machine without fonts draws them as well. */
const strokes: Record<string, string> = {
  M: "M5 100V0L30 60L55 0V100",
  I: "M30 0V100",
  L: "M10 0V100H55",
  R: "M10 100V0H35A25 25 0 0 1 35 50H10M30 50L58 100",
  A: "M2 100L30 0L58 100M13 65H47",
  C: "M56 20A32 50 0 1 0 56 80",
  E: "M55 0H10V100H55M10 48H48",
};

/** A picture of the word MILLRACE. */
export function picture(): Sharp {
  const letters = [..."MILLRACE"].map(
    (letter, at) => `<path transform="translate(${40 + at * 80} 40)" d="${strokes[letter]}"/>`,
  );
  return sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="180"><rect width="720" height="180" fill="#fff"/><g fill="none" stroke="#000" stroke-width="11">${letters.join("")}</g></svg>`,
    ),
  ).png();
}
