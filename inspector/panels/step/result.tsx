import { phaseFinding } from '../../../src/chain/journal/phase-finding.ts';
import { answerUpTo } from '../../fold/entry-index.ts';
import { capitalize } from '../../fold/format.ts';
import { fieldsOf, replyAt, replyOf } from '../../fold/output.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import type { PhaseSpan } from '../../fold/spans.ts';
import type { StepCalls, ToolUse } from '../../fold/step.ts';
import { isOver } from '../../fold/step-title.ts';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { CopyButton, Section } from '../parts.tsx';
import { AnswerWithSources } from './answer-text.tsx';
import { CallReply, Fields } from './reply-fields.tsx';
import { ToolResult } from './tools.tsx';

interface ResultProps extends PanelProps {
  readonly calls: StepCalls | null;
  readonly uses: readonly ToolUse[];
}

export function Result({ inspector, view, calls, uses }: ResultProps) {
  const { log, fold, at, selection } = view;
  const { kind, to } = selection;
  const [use] = uses;
  if ((kind === 'capability' || kind === 'retrieval') && use !== undefined) {
    const text = use.kind === 'capability' ? (use.result?.output ?? '') : JSON.stringify(use.result?.passages, null, 2);
    return (
      <Section
        title="Result"
        aside={
          <CopyButton what="result" text={() => text || (use.kind === 'capability' ? (use.result?.error ?? '') : '')} />
        }
      >
        <ToolResult use={use} />
      </Section>
    );
  }
  const answered = answerUpTo(log, fold, Math.min(to, at));
  if (answered !== null && kind === 'entry' && to >= answered.seq)
    return (
      <Section title="Result" aside={<CopyButton what="answer" text={() => answered.answer.answerText} />}>
        <AnswerWithSources inspector={inspector} view={view} {...answered} />
      </Section>
    );
  const phase = kind === 'phase' ? lastStartedBy(fold.spans.phases, to) : undefined;
  if (phase?.to != null && phase.to <= at) return <PhaseResult {...{ inspector, view, phase, calls }} />;
  if (calls === null) return null;
  const { selected } = calls;
  return (
    <Section title="Result" aside={<CopyButton what="result" text={() => replyAt(log, selected.span, at).text()} />}>
      <CallReply key={selected.span.number} log={log} at={at} call={selected} isOver={isOver(view.run)} />
    </Section>
  );
}

/** The validated result of a phase that is done: its part of a reply, which may be an earlier call's. */
function PhaseResult({ view: { log, at }, phase, calls }: Omit<ResultProps, 'uses'> & { readonly phase: PhaseSpan }) {
  const end = phase.to === null ? null : log.entry(phase.to);
  const { source, failure } = phase;
  const summary = end?.type === 'phase-end' ? end.summary : '';
  if (failure !== null)
    return (
      <Section title="Result">
        {calls?.selected.span.failure?.message !== failure.message && (
          <p class="wrong verbatim">
            <LongText text={failure.message} chars={600} />
          </p>
        )}
        {calls !== null && <CallReply log={log} at={at} call={calls.selected} isOver={true} />}
      </Section>
    );
  if (source === null)
    return (
      <Section title="Result">
        {summary === '' ? (
          <p class="muted">
            {end?.type !== 'phase-end'
              ? 'It was stopped.'
              : calls === null
                ? 'Nothing new, without a model call.'
                : 'Nothing new.'}
          </p>
        ) : (
          <LongText text={summary} chars={1_200} />
        )}
      </Section>
    );
  const reply = replyAt(log, source, at);
  const all = fieldsOf(reply.value);
  const prefix = `${phase.phase}.`;
  const own = all.filter(({ name }) => name.startsWith(prefix));
  const fields = own.length === 0 ? all : own.map((field) => ({ ...field, name: field.name.slice(prefix.length) }));
  // One reply for several phases: what it means for this one.
  const isBrief = source.phases !== null;
  const value = replyOf(log, source);
  const finding = phaseFinding(phase.phase, value);
  const { answer: said } = Object(value) as { readonly answer?: unknown };
  const answer = isBrief && phase.phase === 'yield' && typeof said === 'string' ? said : null;
  const isOwn = source.attemptId.startsWith(`s${phase.step}.`);
  return (
    <Section
      title="Result"
      aside={
        <>
          {!isOwn && <span class="muted">from call {source.number}</span>}
          <CopyButton what="result" text={() => summary || reply.text()} />
        </>
      }
    >
      {isBrief && finding !== '' && <p>{capitalize(finding)}</p>}
      {(isBrief || fields.length === 0) && <LongText text={answer ?? summary} chars={1_200} />}
      {fields.length > 0 &&
        (isBrief ? (
          <details>
            <summary>The whole reply of call {source.number}</summary>
            <Fields fields={fields} isBrief />
          </details>
        ) : (
          <Fields fields={fields} />
        ))}
    </Section>
  );
}
