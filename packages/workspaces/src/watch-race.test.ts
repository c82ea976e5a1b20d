import { expect, test } from "vitest";
import { cleanUp, freshPrefix, openDirectory, openWatch } from "../test/directories.ts";
import { wayTo } from "../test/way-to-redis.ts";

cleanUp();

const { REDIS_URL = "" } = process.env;

test("changes, reads of the whole and look-ups all at once end in what was told last", async () => {
  const prefix = freshPrefix();
  const directory = openDirectory(prefix);
  const way = await wayTo(REDIS_URL);
  const watch = openWatch(prefix, way.url);
  await watch.ready;
  const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
  await directory.blockOwner("mallory");

  let isOver = false;
  const standings = () =>
    Promise.all(
      ids.map((id) =>
        Promise.resolve(watch.standingOf(id)).then(
          ({ standing }) => standing,
          () => "unknown",
        ),
      ),
    );
  const asking = (async () => {
    while (!isOver) {
      await standings();
      await new Promise(setImmediate);
    }
  })();
  // Long enough for several questions between one reading of the whole and the next.
  const cutsAt = [300, 900];
  const startedAt = performance.now();
  let round = 0;
  for (let tookMs = 0; tookMs < 1_800; tookMs = performance.now() - startedAt) {
    round += 1;
    const telling = ids.map((id, index) => directory.assignWorkspace(id, (index + round) % 2 ? "mallory" : "ada"));
    if (tookMs > (cutsAt[0] ?? Number.POSITIVE_INFINITY)) {
      cutsAt.shift();
      await way.cut();
      await way.restore();
    }
    await Promise.all([...telling, directory.blockOwner(`${round}`), directory.unblockOwner(`${round - 1}`)]);
  }
  const toldLast = ids.map((_, index) => ((index + round) % 2 ? "blocked" : "active"));
  await expect.poll(standings, { timeout: 2_000, interval: 20 }).toEqual(toldLast);
  // And so it stays, now that everything comes from memory.
  expect(await standings()).toEqual(toldLast);
  isOver = true;
  await asking;
});
