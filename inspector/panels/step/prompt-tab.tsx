import './prompt.css';
import type { RecordedPrompt } from '../../../src/chain/journal/recorded-prompts.ts';
import { pluralize } from '../../fold/format.ts';
import { type NumberedCall, promptSeq, stepCalls } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
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
      <PromptOfCall key={calls.selected.number} view={view} call={calls.selected} />
    </div>
  );
}

interface PromptOfCallProps {
  readonly view: RunView;
  readonly call: NumberedCall;
}

function PromptOfCall({ view: { log, fold }, call }: PromptOfCallProps) {
  const seq = promptSeq(log, fold, call);
  const prompt = seq === null ? null : fold.prompts.at(seq);
  if (prompt === null) return <p class="muted">The prompt of this call is not recorded.</p>;
  return <PromptView prompt={prompt} />;
}

function PromptView({ prompt }: { readonly prompt: RecordedPrompt }) {
  const { name, version, isEdited, turns, schema, tools } = prompt;
  const chars = turns.reduce((sum, { content }) => sum + content.length, 0);
  return (
    <>
      <p class="prompt-head">
        <b class="verbatim">{excerpt(name, 60)}</b>{' '}
        <span class="muted">
          version {version}, {pluralize(chars, 'character')}
        </span>{' '}
        {isEdited && <span class="pill degraded">edited for this call</span>}
      </p>
      {turns.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns of a prompt never change
        <TurnCard key={index} by={role} content={content} chars={role === 'system' ? SYSTEM_CHARS : TURN_CHARS} />
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
