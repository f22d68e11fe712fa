import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExportAnswer } from '../../../src/inspection/wire.ts';
import { revealHidden } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { Problem } from './event-forms.tsx';

interface ShareProps {
  readonly inspector: Inspector;
  readonly runId: string;
}

/** Downloads the run as one page, without what the patterns match. */
export function ExportDialog({ inspector, runId }: ShareProps) {
  const [patterns, setPatterns] = useState('');
  const [answer, setAnswer] = useState<ExportAnswer | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isSaved, setSaved] = useState(false);

  async function download(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    if (answer?.problem === null) return finish(answer.html);
    setBusy(true);
    const redact = patterns.split('\n').filter((pattern) => pattern.trim() !== '');
    const exported = await inspector.exportRun(runId, redact);
    setBusy(false);
    setAnswer(exported);
    // What remains private is shown first.
    if (exported.problem === null && exported.notes.length === 0) finish(exported.html);
  }

  function finish(html: string): void {
    save(`run-${runId.slice(0, 8).replace(/[^\w-]/gu, '_')}.html`, html);
    setSaved(true);
  }

  return (
    <form aria-label="Download" onSubmit={download}>
      <p>
        One page that opens without a server. It holds the whole journal: the request, the prompts, the replies,
        passages.
      </p>
      <label class="field">
        <span>
          Replace with [redacted]{' '}
          <span class="muted">optional; one text (case-insensitive) or /regular expression/ per line</span>
        </span>
        <textarea
          rows={3}
          spellcheck={false}
          value={patterns}
          readOnly={isBusy}
          onInput={({ currentTarget }) => {
            setPatterns(currentTarget.value);
            setAnswer(null);
            setSaved(false);
          }}
        />
      </label>
      <div role="status">
        {answer?.notes.map((note) => (
          <p key={note} class="verbatim">
            {revealHidden(note)}
          </p>
        ))}
        {answer?.problem === null && <p>{isSaved ? 'Downloaded.' : 'Not downloaded yet: click Download again.'}</p>}
      </div>
      <button type="submit" class="primary" aria-disabled={isBusy}>
        Download
      </button>
      <Problem text={answer?.problem ?? ''} />
    </form>
  );
}

export function save(name: string, html: string): void {
  const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

interface WrittenTest {
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

/** Requests a Vitest test of the run, copies it, and shows where its recording must be. */
export function TestDialog({ inspector, runId }: ShareProps) {
  const [test, setTest] = useState<WrittenTest | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    void ask();
    async function ask(): Promise<void> {
      const { text, problem } = await inspector.test(runId);
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
        {`npx postchain replay ${revealHidden(runId)} --vitest run.test.ts\nnpx vitest run run.test.ts`}
      </pre>
      <label>
        <span class="visually-hidden">The test</span>
        <textarea ref={area} readOnly rows={12} spellcheck={false} class="mono" value={test.text} />
      </label>
    </div>
  );
}
