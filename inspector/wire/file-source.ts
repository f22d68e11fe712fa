import { type ExportedRun, WIRE_VERSION } from '../../src/inspection/wire.ts';
import type { PageSource } from './page-source.ts';

const A_FILE = 'This page is a file with one run: open the run in "postchain inspect" for that.';

/** The one run that an exported page carries; null in a page that carries none. */
export function carriedRun(page: Document): string | null {
  const text = page.getElementById('recording')?.textContent ?? '';
  return text.trim() === '' ? null : text;
}

/** The run in a file that was exported. Throws one line where what it carries is no such run. */
export function fileSource(text: string): PageSource {
  const { run, charts, drawings, lines } = read(text);
  return {
    start(ear) {
      ear.connection('file');
      ear.drawings(drawings);
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

function read(text: string): ExportedRun {
  let exported: Partial<ExportedRun> | null;
  try {
    exported = JSON.parse(text) as Partial<ExportedRun> | null;
  } catch {
    throw new Error('The run in this file cannot be read: the file was cut off or changed. Ask for it again.');
  }
  const { version, run, charts, drawings, lines } = exported ?? {};
  if (version !== WIRE_VERSION)
    throw new Error(`This file is of version ${String(version)}; this page reads version ${WIRE_VERSION}.`);
  if (!run || !charts || !drawings || !Array.isArray(lines))
    throw new Error('The run in this file is not whole: the file was changed. Ask for it again.');
  return { version, run, charts, drawings, lines };
}
