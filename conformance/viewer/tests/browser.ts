// A page in Chromium.

import { type Browser, type Page, chromium } from "playwright-core";

export async function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM;
  if (executablePath === undefined) throw new Error("CHROMIUM names no browser");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
}

export interface Opened {
  page: Page;
  /** What went wrong on the page, and what it asked the network for. */
  complaints: string[];
}

export async function open(browser: Browser, file: string, fragment = "", scheme: "light" | "dark" = "light"): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) complaints.push(`asked for ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`file://${file}${fragment}`);
  await settled(page);
  return { page, complaints };
}

/** Waits until what was asked for is drawn. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
