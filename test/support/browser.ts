import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** How long a page may take to reach an expected state: a guard against a hang, so long that no busy machine exceeds it. */
export const WAIT_MS = 120_000;

/** Unpacked once; `npm ci` clears it away. */
const CACHE = resolve('node_modules/.cache');

/** Names no absolute path: the worktree that unpacked the browser may be gone. Without fonts, Chromium crashes. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`;

/**
 * A headless Chromium from npm alone: neither a display, nor fonts, nor libraries of the system but the C library's are needed.
 * Where it cannot start, this gives the reason in one line; with POSTCHAIN_BROWSER=required it throws instead.
 */
export async function startBrowser(args: readonly string[] = []): Promise<Browser | string> {
  try {
    return await launch(await unpacked(), args);
  } catch (error) {
    const reason = `Chromium does not start here: ${whyOf(error)}`;
    if (process.env['POSTCHAIN_BROWSER'] === 'required') throw new Error(reason, { cause: error });
    return reason;
  }
}

/** With the system's own libraries where it has them, else with those that come along. */
async function launch(folder: string, args: readonly string[]): Promise<Browser> {
  const start = (libraries: Record<string, string>): Promise<Browser> =>
    playwright.launch({
      timeout: WAIT_MS,
      executablePath: join(folder, 'chromium'),
      args: ['--no-sandbox', ...args],
      env: { ...process.env, ...libraries, FONTCONFIG_FILE: join(folder, 'fonts.conf') },
    });
  try {
    return await start({});
  } catch {
    return await start({ LD_LIBRARY_PATH: join(folder, 'al2023/lib') });
  }
}

/** The folder with everything in it. It gets its name when it is whole: a run that was killed half-way leaves none. */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(await readFile('node_modules/@sparticuz/chromium/package.json', 'utf8'));
  const folder = join(CACHE, `browser-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(`${folder}-`);
  // The package unpacks to the temporary folder, and its libraries only where it takes itself to be on Amazon Linux.
  const before = { ...process.env };
  try {
    Object.assign(process.env, { TMPDIR: making, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' });
    await chromium.executablePath();
  } finally {
    restore(before, ['TMPDIR', 'AWS_EXECUTION_ENV']);
  }
  await writeFile(join(making, 'fonts.conf'), FONTS);
  await rename(making, folder).catch(() => rm(making, { recursive: true }));
  return folder;
}

function restore(env: NodeJS.ProcessEnv, names: readonly string[]): void {
  for (const name of names) {
    if (env[name] === undefined) delete process.env[name];
    else process.env[name] = env[name];
  }
}

function whyOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [why = text] = text.match(/.*(?:error while loading|ENOEXEC|EACCES|ENOENT|No usable).*/) ?? text.split('\n');
  return why.trim().slice(0, 200);
}
