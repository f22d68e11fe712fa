import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A property that does not hold, as `postchain mcp --machines` reports it. `at`: the paths of states. */
export interface Finding {
  readonly property: string;
  readonly holds: boolean;
  readonly what?: string;
  readonly at?: readonly string[];
  readonly start?: string;
  readonly input?: string;
  readonly path?: readonly { readonly event: string; readonly state: string }[];
}

/** A module as the editor has it. */
export interface EditedModule {
  readonly path: string;
  readonly text: string;
  /** The export with the machine, if there are several. */
  readonly exported?: string;
}

interface Tools {
  readonly lint: { readonly machine: string; readonly findings: readonly Finding[] };
  readonly diagram: { readonly machine: string; readonly mermaid: string };
  readonly simulate: { readonly start: Place; readonly steps: readonly (Place & { readonly event: string })[] };
}

export interface Place {
  readonly state: string;
  readonly context: unknown;
  readonly transitions: readonly string[];
  readonly error?: string;
}

/** Why a module was not checked: it exports no machine, several of them, or it failed. */
export class NotChecked extends Error {}

const LIMIT_MS = 20_000;
const MEMORY_MB = '1024';
const OVERLAY = new URL('./overlay.mjs', import.meta.url);

/** Returns the command of the PostChain that the module's project has installed; null if it has none. */
export function installedCli(path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const cli = join(folder, 'node_modules/postchain/dist/cli.js');
    if (existsSync(cli)) return cli;
    if (folder === dirname(folder)) return null;
  }
}

/**
 * Runs a tool of the project's PostChain on the machine of a module, in a process of its own: a module is code that may hang. Rejects with
 * `NotChecked`, also if the signal stops it.
 */
export async function runTool<Name extends keyof Tools>(
  cli: string,
  name: Name,
  { path, text, exported }: EditedModule,
  input: object,
  signal: AbortSignal,
): Promise<Tools[Name]> {
  const file = realpathSync(path);
  const folder = mkdtempSync(join(tmpdir(), 'postchain-'));
  const overlay = join(folder, 'overlay.json');
  writeFileSync(overlay, JSON.stringify({ url: pathToFileURL(file).href, text }));
  const child = fork(cli, ['machine-tool', MEMORY_MB], {
    cwd: dirname(file),
    execArgv: ['--import', OVERLAY.href, `--max-old-space-size=${MEMORY_MB}`],
    // In VS Code, the runtime is Electron.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', POSTCHAIN_OVERLAY: overlay },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
    timeout: LIMIT_MS,
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    stderr = (stderr + piece).slice(-2_000);
  });
  try {
    return await new Promise((resolve, reject) => {
      const fail = (message: string): void => reject(new NotChecked(message));
      child.on('error', ({ message }) => fail(message));
      child.on('exit', (_, killedBy) =>
        fail(
          killedBy === 'SIGKILL'
            ? `The machine was not checked within ${LIMIT_MS / 1_000} s. Check for an endless loop in the module, or export a "depth".`
            : `The process that checks the machine ended: ${stderr.trim().split('\n').at(-1) ?? ''}`,
        ),
      );
      child.on('message', (reply: unknown) => {
        const { tool, result, error } = Object(reply) as { tool?: string; result?: Tools[Name]; error?: Error };
        if (tool !== 'postchain') return;
        if (result === undefined) fail(error?.message ?? 'No result');
        else resolve(result);
      });
      child.send({
        name,
        root: dirname(file),
        input: { file: exported === undefined ? file : `${file}#${exported}`, ...input },
      });
    });
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

export const pathOf = (uri: string): string | null => (uri.startsWith('file:') ? fileURLToPath(uri) : null);
