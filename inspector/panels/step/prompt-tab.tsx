import './prompt.css';
import { useEffect, useState } from 'preact/hooks';
import type { PromptAnswer, ShownPrompt } from '../../../src/inspection/wire.ts';
import { pluralize } from '../../fold/format.ts';
import { type NumberedCall, promptSeq, stepCalls } from '../../fold/step.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { CallChips } from './call-chips.tsx';

export function PromptTab({ inspector, view }: PanelProps) {
  const calls = stepCalls(view.fold, view.selection, view.at);
  if (calls === null) return <p class="muted">This step made no model call.</p>;
  return (
    <div class="prompt">
      <CallChips inspector={inspector} view={view} calls={calls} />
      <PromptOfCall key={calls.selected.number} inspector={inspector} view={view} call={calls.selected} />
    </div>
  );
}

interface PromptOfCallProps {
  readonly inspector: Inspector;
  readonly view: RunView;
  readonly call: NumberedCall;
}

function PromptOfCall({ inspector, view: { run, log, fold }, call }: PromptOfCallProps) {
  const seq = promptSeq(log, fold, call);
  const answer = usePrompt(inspector, run.runId, seq);
  if (seq === null) return <p class="muted">The prompt of this call is not recorded.</p>;
  if (answer === null) return <p role="status">Rebuilding the prompt…</p>;
  const { prompt, problem } = answer;
  return prompt === null ? (
    <p role="status">
      The prompt cannot be shown: <span class="verbatim">{excerpt(problem ?? 'no reason was given', 400)}</span>
    </p>
  ) : (
    <PromptView prompt={prompt} />
  );
}

const known = new WeakMap<Inspector, Map<string, PromptAnswer>>();

/** Requests a prompt once, and keeps it. Null until it arrives. */
function usePrompt(inspector: Inspector, runId: string, seq: number | null): PromptAnswer | null {
  const [latest, setLatest] = useState<{ readonly key: string; readonly answer: PromptAnswer } | null>(null);
  const all = known.get(inspector) ?? new Map<string, PromptAnswer>();
  known.set(inspector, all);
  const key = `${runId} ${seq}`;
  useEffect(() => {
    if (seq === null || all.has(key)) return undefined;
    let isShown = true;
    void inspector.prompt(runId, seq).then((answer) => {
      // A failed request may succeed later.
      if (answer.prompt !== null) all.set(key, answer);
      if (isShown) setLatest({ key, answer });
    });
    return () => {
      isShown = false;
    };
  }, [key]);
  return all.get(key) ?? (latest?.key === key ? latest.answer : null);
}

function PromptView({ prompt }: { readonly prompt: ShownPrompt }) {
  const { name, version, system, turns, schema, tools, verified, note } = prompt;
  const chars = system.length + turns.reduce((sum, { content }) => sum + content.length, 0);
  return (
    <>
      <p class="prompt-head">
        <b class="verbatim">{excerpt(name, 60)}</b>{' '}
        <span class="muted">
          version {version}, {pluralize(chars, 'character')}
        </span>{' '}
        <span class={verified ? 'pill completed' : 'pill degraded'} title={verified ? VERIFIED : undefined}>
          {verified ? 'verified' : 'not verified'}
        </span>
      </p>
      {note !== null && <p class="note verbatim">{revealHidden(note)}</p>}
      {system !== '' && <TurnCard by="system" content={system} chars={SYSTEM_CHARS} />}
      {turns.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns of a prompt never change
        <TurnCard key={index} by={role} content={content} chars={TURN_CHARS} />
      ))}
      {schema !== null && schema !== undefined && (
        <details class="card" open>
          <summary>Schema of the reply</summary>
          <JsonTree value={schema} />
        </details>
      )}
      {tools.length > 0 && (
        <details class="card">
          <summary>{pluralize(tools.length, 'tool')} offered</summary>
          <JsonTree value={tools} />
        </details>
      )}
    </>
  );
}

const VERIFIED = 'Its digest matches the one in the journal: the model received exactly this text.';
const SYSTEM_CHARS = 1_500;
const TURN_CHARS = 4_000;

interface TurnCardProps {
  readonly by: string;
  readonly content: string;
  readonly chars: number;
}

function TurnCard({ by, content, chars }: TurnCardProps) {
  return (
    <section class={`card turn ${by}`} aria-label={`${by} turn`}>
      <h2>{by}</h2>
      <LongText text={content} chars={chars} />
    </section>
  );
}
