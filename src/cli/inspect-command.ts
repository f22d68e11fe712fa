import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Run } from '../chain/runtime/run.ts';
import { type InspectionOptions, inspectionServer } from '../inspection/inspection-server.ts';
import { boundsOf } from '../inspection/stored-runs.ts';
import { makeDirectory } from '../internal/make-directory.ts';
import { moduleMachines } from './durable-modules.ts';
import { type FindFlags, find } from './find-run.ts';
import { homePath } from './home.ts';
import { type InspectedJournals, inspectedActions } from './inspected-actions.ts';
import { openExistingJournals, openJournals } from './open-journals.ts';
import { untilStopped } from './until-stopped.ts';

export interface InspectFlags extends FindFlags {
  readonly port?: number;
  readonly open?: boolean;
}

/** Serves until Ctrl-C. Returns the exit code. */
export async function inspectCommand(
  name: string | undefined,
  flags: InspectFlags,
  { stderr }: Pick<NodeJS.Process, 'stderr'> = process,
): Promise<number> {
  const { runId, ...found } = await findJournals(name, flags);
  const inspector = await openInspector({ ...found, place: flags.journals, port: flags.port }, stderr);
  if (runId !== null) inspector.choose(runId);
  stderr.write(`To show other XState programs: inspectTo('${inspector.inspectUrl}')\n`);
  const stopped = inspector.stay();
  // A signal that nobody listens to would leave the browser's file behind.
  if (flags.open) openInBrowser(inspector.url);
  await stopped;
  await inspector.close();
  return 0;
}

/** Throws if nothing can be shown. A journal that is damaged further on is shown up to the damage. */
async function findJournals(name: string | undefined, flags: FindFlags) {
  const hosts = await moduleMachines(flags);
  const found = name === undefined ? null : await find(name, flags);
  const isFile = found?.isFile ?? false;
  if (found?.kind === 'run') {
    const { store, runId, isForeign } = found;
    for await (const _ of store.read(runId)) break;
    // A file lists itself by its absolute path.
    const listed = isFile ? ((await store.list())[0]?.id ?? runId) : runId;
    return { journals: store, hosts, runId: listed, isFile, isForeign };
  }
  const open = hosts.length > 0 ? openJournals : openExistingJournals;
  const journals = found?.isFile ? found.store : open(flags);
  // Reading one run shows whether the place can be used. The server reads the others while the page opens.
  for await (const _ of boundsOf(journals)) break;
  const isForeign = found !== null || flags.journals !== undefined;
  return { journals, hosts, runId: found?.id ?? null, isFile, isForeign };
}

export interface OpenedInspector {
  readonly url: string;
  readonly inspectUrl: string;
  watch(run: Run): void;
  choose(runId: string): void;
  /** Resolves at Ctrl-C or SIGTERM. */
  stay(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the inspector and prints its address, which stays the same for a chosen port. Rejects with `invalid_option` if the port is in use.
 */
export async function openInspector(
  {
    port = 0,
    hosts = [],
    ...found
  }: InspectedJournals & { readonly port?: number | undefined; readonly hosts?: InspectionOptions['hosts'] },
  out: NodeJS.WriteStream,
): Promise<OpenedInspector> {
  const { url, inspectUrl, watch, choose, close } = await inspectionServer({
    journals: found.journals,
    hosts,
    port,
    actions: inspectedActions(found),
    token: port === 0 ? undefined : installationToken(),
  });
  out.write(`Inspector: ${url}\n`);
  return {
    url,
    inspectUrl,
    watch,
    choose,
    async stay() {
      out.write('Press Ctrl-C to stop the inspector.\n');
      await untilStopped();
    },
    close,
  };
}

/** Returns this user's token, created on first use; undefined if it cannot be stored or is not private. */
function installationToken(): string | undefined {
  const path = homePath('inspector.key');
  try {
    makeDirectory(dirname(path));
    if (!existsSync(path))
      writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
    const { mode, uid } = statSync(path);
    const isPrivate = process.platform === 'win32' || ((mode & 0o077) === 0 && uid === process.getuid?.());
    const token = readFileSync(path, 'utf8').trim();
    return isPrivate && /^[\w-]{43}$/u.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

/** How long a browser may take to read the file. */
const KEPT_MS = 60_000;

/**
 * Opens an address that contains a secret. Any user can list the arguments of a process, so the browser gets a file that only this user can
 * read and that leads to the address. Nothing happens if no browser can be started.
 */
function openInBrowser(url: string): void {
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
