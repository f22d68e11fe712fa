import { parseJson } from '../../internal/json-text.ts';
import { makeDirectory } from '../../internal/make-directory.ts';
import type { FileNames } from './file-names.ts';
import { fs, nameDigest, paths } from './line-file.ts';
import { noSuchJournal, receiversReport, repeat } from './line-store.ts';
import type { LineMailbox } from './mailbox.ts';

const FOLDER = 'mail';
const MESSAGE = '.json';

export interface FileMailbox extends LineMailbox {
  has(to: string): boolean;
  forget(to: string): void;
}

/** Keeps each message as a file, in a directory for each actor beside the journals. */
export function fileMailbox(folder: string, { pathOf, idOf }: FileNames): FileMailbox {
  const root = paths().join(folder, FOLDER);
  const boxOf = (to: string): string => paths().join(root, paths().basename(pathOf(to)));
  const namesFor = (to: string): readonly string[] => namesIn(boxOf(to)).filter((name) => name.endsWith(MESSAGE));
  const mailbox: FileMailbox = {
    has: (to) => namesFor(to).length > 0,
    forget: (to) => fs().rmSync(boxOf(to), { recursive: true, force: true }),
    async post(to, id, line) {
      if (!fs().existsSync(pathOf(to))) throw noSuchJournal(to);
      const name = `${nameDigest(id)}${MESSAGE}`;
      if (namesFor(to).some((other) => other.endsWith(name))) return;
      writeWhole(boxOf(to), `${nextPlace()}-${name}`, JSON.stringify([id, line]));
      // The journal may have been deleted meanwhile.
      if (!fs().existsSync(pathOf(to))) mailbox.forget(to);
    },
    read: async (to) =>
      namesFor(to)
        .toSorted()
        .map((name) => {
          const [id, line] = (parseJson(textIn(paths().join(boxOf(to), name))) ?? []) as readonly unknown[];
          return typeof id === 'string' && typeof line === 'string' ? { id, line } : { id: name, line: '' };
        }),
    async remove(to, ids) {
      const removed = new Set(ids.map((id) => `${nameDigest(id)}${MESSAGE}`));
      for (const name of namesFor(to))
        if (removed.has(name.slice(name.lastIndexOf('-') + 1)))
          fs().rmSync(paths().join(boxOf(to), name), { force: true });
      removeIfEmpty(boxOf(to));
    },
    receivers: async () =>
      namesIn(root).flatMap((name) => {
        const [id] = idOf(name);
        return id !== undefined && mailbox.has(id) ? [id] : [];
      }),
    watch: (onMail) => repeat(receiversReport(mailbox.receivers, onMail)),
  };
  return mailbox;
}

let places = 0;

/** Returns a text that sorts after those of earlier messages. */
function nextPlace(): string {
  places += 1;
  return `${String(Date.now()).padStart(15, '0')}-${String(places).padStart(9, '0')}`;
}

/** Writes a file under another name first, because readers must not see a part of it. */
function writeWhole(folder: string, name: string, text: string): void {
  const path = paths().join(folder, name);
  const temporary = `${path}.${globalThis.crypto.randomUUID()}.new`;
  for (let tries = 1; ; tries += 1)
    try {
      makeDirectory(folder);
      fs().writeFileSync(temporary, text, { mode: 0o600, flush: true });
      fs().renameSync(temporary, path);
      return;
    } catch (error) {
      // The process that took the last message has removed the directory.
      if (codeOf(error) !== 'ENOENT' || tries === MAX_TRIES) throw error;
    }
}

const MAX_TRIES = 100;

function removeIfEmpty(folder: string): void {
  try {
    fs().rmdirSync(folder);
  } catch {
    // It has messages, or is gone.
  }
}

const codeOf = (error: unknown): unknown => (Object(error) as { code?: unknown }).code;

function namesIn(folder: string): readonly string[] {
  try {
    return fs().readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Empty if another process has removed the file. */
function textIn(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
