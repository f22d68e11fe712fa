import { useMemo } from 'preact/hooks';
import { budgetAt, type Meter } from '../../fold/budget-at.ts';
import type { ContextAt } from '../../fold/context-at.ts';
import { counted, duration, grouped } from '../../fold/number-words.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';

interface BudgetViewProps extends PanelProps {
  readonly context: ContextAt;
}

/** What the context and the run have used at the cursor, of what they may. */
export function BudgetView({ inspector, view: { log, fold, at }, context }: BudgetViewProps) {
  const budget = useMemo(() => budgetAt(log, fold, context, at), [log, fold, context, at]);
  if (budget === null) return <p class="muted">The journal does not tell what this run may use.</p>;
  const { evaluated } = budget;
  return (
    <>
      <Meters name="The context" meters={budget.context} />
      {evaluated === null ? (
        <p class="muted">Understanding has not measured it yet.</p>
      ) : (
        <div class="why">
          Last measured by Understanding in step {evaluated.step}{' '}
          <button type="button" class="quiet" onClick={() => inspector.moveTo(evaluated.seq)}>
            entry {grouped(evaluated.seq)}
          </button>
          : {evaluatedWords(evaluated.statistics)}
          {evaluated.problem !== null && <p class="told">Not measured: {shortly(evaluated.problem, 300)}</p>}
        </div>
      )}
      <Meters name="The run" meters={budget.run} />
    </>
  );
}

type Statistics = NonNullable<NonNullable<ReturnType<typeof budgetAt>>['evaluated']>['statistics'];

function evaluatedWords(statistics: Statistics): string {
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter, estimated, pruned, summarised } = statistics;
  const { tokensOver, messagesOver } = statistics;
  const over = [
    ...(tokensOver > 0 ? [counted(tokensOver, 'token')] : []),
    ...(messagesOver > 0 ? [counted(messagesOver, 'message')] : []),
  ];
  return [
    `${grouped(messagesBefore)} to ${counted(messagesAfter, 'message')}`,
    `${grouped(tokensBefore)} to ${counted(tokensAfter, 'token')}${estimated ? ' (characters / 4)' : ''}`,
    `${pruned} pruned`,
    `${summarised} summarised`,
    ...(over.length === 0 ? [] : [`still over its limit by ${over.join(' and ')}`]),
  ].join(', ');
}

function Meters({ name, meters }: { readonly name: string; readonly meters: readonly Meter[] }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <ul class="meters">
        {meters.map((meter) => (
          <MeterItem key={meter.name} meter={meter} />
        ))}
      </ul>
    </section>
  );
}

/** From this share on, and beyond the whole. */
const NEAR = 0.8;

function MeterItem({ meter: { name, value, limit, unit, note } }: { readonly meter: Meter }) {
  const share = limit > 0 ? value / limit : value > 0 ? 2 : 0;
  const state = share > 1 ? 'over' : share >= NEAR ? 'near' : 'well';
  const numbers =
    unit === 'ms'
      ? `${duration(value)} of ${duration(limit)}`
      : `${grouped(value)} of ${counted(limit, unit.slice(0, -1))}`;
  const words = `${numbers} · ${limit > 0 ? `${Math.round(share * 1_000) / 10} %` : 'none allowed'}${
    state === 'over' ? ', over its limit' : ''
  }`;
  return (
    <li class={state}>
      <span>{name}</span>
      <span class="numbers">{words}</span>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      {note !== null && <span class="muted note">{note}</span>}
    </li>
  );
}
