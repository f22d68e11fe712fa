import { useEffect, useRef, useState } from 'preact/hooks';
import { commandLine } from '../../../machines/text/quoting.ts';
import type { ExportResult, RequestResult } from '../../../src/inspection/wire.ts';
import { revealHidden } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { Dialog } from './dialog.tsx';
import { Field, Problem } from './event-forms.tsx';

interface ExportProps {
  readonly inspector: Inspector;
  readonly runIds: readonly string[];
}

/** How long to wait after the last keystroke. */
const PAUSE_MS = 400;

/** The pages of the runs without what the patterns match, one a line; null while the server writes them. */
function usePages({ inspector, runIds }: ExportProps, patterns: string): readonly RequestResult<ExportResult>[] | null {
  const [pages, setPages] = useState<readonly RequestResult<ExportResult>[] | null>(null);
  const last = useRef(Promise.resolve());
  useEffect(() => {
    let isCurrent = true;
    setPages(null);
    const redact = patterns.split('\n').filter((pattern) => pattern.trim() !== '');
    const write = async (): Promise<void> => {
      const written: RequestResult<ExportResult>[] = [];
      for (const runId of runIds)
        if (isCurrent) written.push(await inspector.request({ type: 'export', runId, redact }));
      if (isCurrent) setPages(written);
    };
    // The server writes one page at a time.
    const timer = setTimeout(
      () => {
        last.current = last.current.then(write);
      },
      patterns === '' ? 0 : PAUSE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [patterns]);
  return pages;
}

/** Downloads each run or actor as one page, without what the patterns match. First lists text that may still be private. */
export function ExportDialog({ onClose, ...props }: ExportProps & { readonly onClose: () => void }) {
  const { runIds } = props;
  const [patterns, setPatterns] = useState('');
  const [isSaved, setSaved] = useState(false);
  const pages = usePages(props, patterns);
  const problem = pages?.find((page) => page.problem !== null)?.problem ?? '';
  const canSave = pages !== null && problem === '';

  function download(submitted: Event): void {
    submitted.preventDefault();
    if (!canSave) return;
    for (const [at, { result }] of pages.entries()) save(runIds[at] ?? '', result?.html ?? '');
    setSaved(true);
  }

  return (
    <Dialog title="Download" onClose={onClose}>
      <form aria-label="Download" onSubmit={download}>
        <p>
          {runIds.length === 1
            ? 'One page that opens without a server. It contains'
            : `${runIds.length} pages that open without a server, one for each run or actor. They contain`}{' '}
          the whole journal: the request, prompts, replies and passages.
        </p>
        <Field
          label="Replace with [redacted]"
          hint="optional; one text (case-insensitive) or /regular expression/ per line"
        >
          <textarea
            rows={3}
            spellcheck={false}
            value={patterns}
            onInput={({ currentTarget }) => {
              setPatterns(currentTarget.value);
              setSaved(false);
            }}
          />
        </Field>
        <div role="status">
          {[...new Set(pages?.flatMap(({ result }) => result?.notes ?? []))].map((note) => (
            <p key={note} class="verbatim">
              {revealHidden(note)}
            </p>
          ))}
          {pages === null && <p>Looking for private text…</p>}
          {canSave && pages.every(({ result }) => result?.notes.length === 0) && (
            <p class="muted">
              No API keys, tokens, passwords in URLs, email addresses or home directories found. Check for other private
              text yourself.
            </p>
          )}
          {isSaved && <p>Downloaded.</p>}
        </div>
        <button type="submit" class="primary" aria-disabled={!canSave}>
          Download
        </button>
        <Problem text={problem} />
      </form>
    </Dialog>
  );
}

function save(runId: string, html: string): void {
  const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `run-${runId.slice(0, 8).replace(/[^\w-]/gu, '_')}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

interface WrittenTest {
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

/** Requests a Vitest test of the run, copies it, and shows where its recording must be. */
export function TestDialog({ inspector, runId }: { readonly inspector: Inspector; readonly runId: string }) {
  const [test, setTest] = useState<WrittenTest | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    void ask();
    async function ask(): Promise<void> {
      const { result, problem } = await inspector.request({ type: 'test', runId });
      const text = result ?? '';
      // Browsers refuse this in insecure contexts.
      const isCopied = await (problem === null ? navigator.clipboard?.writeText(text) : undefined)?.then(
        () => true,
        () => false,
      );
      setTest({ text, problem, isCopied: isCopied ?? false });
    }
  }, []);
  useEffect(() => {
    if (test?.isCopied === false) area.current?.select();
  }, [test]);
  if (test === null) return <p role="status">Writing the test…</p>;
  if (test.problem !== null) return <Problem text={test.problem} />;
  return (
    <div class="stack">
      <p role="status">
        {test.isCopied ? 'Copied.' : 'The browser does not allow copying. Copy the selected text yourself.'}
      </p>
      <p>
        The test expects the recording next to it, as <code>run.jsonl</code>. In a project with <code>postchain</code>{' '}
        and <code>vitest</code>, these commands write both and run the test:
      </p>
      <pre class="verbatim">
        {`${revealHidden(commandLine('npx postchain replay', runId, '--vitest run.test.ts'))}\nnpx vitest run run.test.ts`}
      </pre>
      <label>
        <span class="visually-hidden">The test</span>
        <textarea ref={area} readOnly rows={12} spellcheck={false} class="mono" value={test.text} />
      </label>
    </div>
  );
}
