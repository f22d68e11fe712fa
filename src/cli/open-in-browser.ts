import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How long a browser may take to read the file. */
const KEPT_MS = 60_000;

/**
 * Opens an address that contains a secret. Any user can list the arguments of a process, so the browser gets a file that only this user can
 * read and that leads to the address. Nothing happens if no browser can be started.
 */
export function openInBrowser(url: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'postchain-'));
  const file = join(folder, 'inspector.html');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}">\n`, {
    mode: 0o600,
  });
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true });
  child.on('error', remove);
  child.unref();
  setTimeout(remove, KEPT_MS).unref();
  process.once('exit', remove);
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};
