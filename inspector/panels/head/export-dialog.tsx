import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExportResult, RequestResult } from '../../../src/inspection/wire.ts';
import { revealHidden } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { Dialog } from './dialog.tsx';
import { Problem, SubmitForm, TextField } from './event-forms.tsx';

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
  const { runIds, inspector } = props;
  const isActor = (id: string): boolean => inspector.runs.value.find(({ runId }) => runId === id)?.kind === 'system';
  const [patterns, setPatterns] = useState('');
  const pages = usePages(props, patterns);
  const problem = pages?.find((page) => page.problem !== null)?.problem ?? '';
  const canSave = pages !== null && problem === '';

  function download(): void {
    if (pages === null) return;
    for (const [at, { result }] of pages.entries()) {
      const runId = runIds[at] ?? '';
      save(isActor(runId) ? `actor-${runId}` : `run-${runId.slice(0, 8)}`, result?.html ?? '');
    }
  }

  return (
    <Dialog title="Download" onClose={onClose}>
      <SubmitForm label="Download" isBusy={!canSave} submit="Download" onSubmit={download}>
        <p>
          {runIds.length === 1
            ? 'One page that opens without a server. It contains'
            : `${runIds.length} pages that open without a server, one for each run or actor. They contain`}{' '}
          the whole journal: {runIds.every(isActor) ? ACTOR_CONTENT : 'the request, prompts, replies and passages'}.
        </p>
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
        </div>
        <TextField
          label="Replace with [redacted]"
          hint="optional; one text (case-insensitive) or /regular expression/ per line"
          rows={3}
          value={patterns}
          onText={setPatterns}
        />
        {!runIds.every(isActor) && (
          <p class="muted">In a run, PostChain’s own names of states, events, guards and fields are never replaced.</p>
        )}
        <Problem text={problem} />
      </SubmitForm>
    </Dialog>
  );
}

const ACTOR_CONTENT = 'input, events, contexts and the results of calls';
const MAX_NAME_CHARS = 80;

function save(name: string, html: string): void {
  const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.slice(0, MAX_NAME_CHARS).replace(/[^\w-]/gu, '_')}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
