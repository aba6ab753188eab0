// Each seeded bug's failing run opens with its broken promise in view.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launch, open } from "./browser.js";

test("each seeded bug's broken promise is in view when its page opens", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bugs-"));
  execFileSync(process.env.CONFORMANCE ?? "", ["bugs", "--html", folder], { stdio: "ignore" });
  const pages = readdirSync(folder);
  assert.ok(pages.length > 20, `${pages.length} pages`);
  const browser = await launch();
  for (const name of pages) {
    const { page, complaints } = await open(browser, join(folder, name));
    const heading = page.locator("#promise h2");
    assert.match((await heading.textContent()) ?? "", /Broken: /u, name);
    for (const part of [heading, page.locator("#promise .says")]) {
      const box = await part.boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y + box.height <= 900, `${name}: out of view`);
    }
    assert.deepEqual(complaints, [], name);
    await page.context().close();
  }
  await browser.close();
});
