import { type ExportedRun, WIRE_VERSION } from '../../src/inspection/wire.ts';
import type { PageSource } from './page-source.ts';

const A_FILE = 'This page is a file with one run: open the run in "postchain inspect" for that.';
const DAMAGED = 'the file was cut off or changed. Ask for it again.';

/** What an exported page carries. */
export interface Carried {
  readonly data: string;
  /** SHA-256 of it, hex, as the export wrote it. */
  readonly checksum: string;
}

/** Null in a page that carries no run, since a server gave it. In one that is a file, nothing is a run that was cut off. */
export function carriedRun(page: Document): Carried | null {
  const element = page.getElementById('recording');
  const data = element?.textContent ?? '';
  const checksum = element?.dataset['sha256'];
  const isExport = checksum !== undefined || page.location.protocol === 'file:';
  return data.trim() === '' && !isExport ? null : { data, checksum: checksum ?? '' };
}

/** The run in a file that was exported. Rejects with one line where what it carries is no such run, or not the one that was exported. */
export async function fileSource({ data, checksum }: Carried): Promise<PageSource> {
  // A browser that gives pages of files no cryptography cannot tell; the checksum of the export still can.
  if (crypto.subtle !== undefined && (await sha256(data)) !== checksum)
    throw new Error(`The run in this file is not the one that was exported: ${DAMAGED}`);
  const { run, charts, lines } = read(data);
  return {
    start(ear) {
      ear.connection('file');
      ear.runs([run], run.runId);
      ear.charts(run.runId, charts);
      ear.entries(run.runId, 0, lines);
      ear.end(run.runId, null);
    },
    open: () => {},
    close: () => {},
    send: async () => A_FILE,
    test: async () => ({ text: '', problem: A_FILE }),
  };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function read(data: string): ExportedRun {
  let exported: Partial<ExportedRun> | null;
  try {
    exported = JSON.parse(data) as Partial<ExportedRun> | null;
  } catch {
    throw new Error(`The run in this file cannot be read: ${DAMAGED}`);
  }
  const { version, run, charts, lines } = exported ?? {};
  if (version !== WIRE_VERSION)
    throw new Error(`This file is of version ${String(version)}; this page reads version ${WIRE_VERSION}.`);
  if (!run || !charts || !Array.isArray(lines)) throw new Error(`The run in this file is not whole: ${DAMAGED}`);
  return { version, run, charts, lines };
}
