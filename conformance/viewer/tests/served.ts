// A server with a live page.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface Served {
  child: ChildProcess;
  address: string;
  /** The URL of the page, as it was printed. */
  page: string;
}

/** Starts a server, and waits until it has told where it is. */
export async function serve(...words: string[]): Promise<Served> {
  const child = spawn(process.env.FAKESERVER ?? "", ["serve", "--end-with-parent", ...words], { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("the server has no output");
  let address = "";
  for await (const line of createInterface(child.stdout)) {
    address = /^listening on http:\/\/(\S+)/.exec(line)?.[1] ?? address;
    const page = /^live page at (\S+)/.exec(line)?.[1];
    if (page !== undefined) return { child, address, page };
  }
  throw new Error("the server has printed no page");
}

export async function stop({ child }: Served): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
