import type { ContextLog } from '../../fold/context-log.ts';
import { type ContextRow, versionBefore } from '../../fold/context-rows.ts';
import { rounded } from '../../fold/number-words.ts';
import { shortly } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { consentOf, doneBy, setBy, sizeWords } from './operation-words.ts';

interface MessageTrailProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  readonly applied: number;
}

/** No more of what was done to one message is listed with it; all of it stands under "What was done". */
const MOST = 8;

/** What was done to one message, and why: the newest in one line that is always there, the rest below it when opened. */
export function MessageTrail({ row: { message, arrival, pruned }, log, applied }: MessageTrailProps) {
  const last = pruned ?? applied - 1;
  const all = log.about(message.id).filter((number) => number <= last && number > (arrival?.operation ?? -1));
  // A line for it is there from the first, so that what is done to a message does not move those below it.
  if (all.length === 0) return <p class="trail muted">as it came</p>;
  const newest = log.operations[all.at(-1) ?? -1];
  return (
    <details class="trail">
      <summary>
        {newest !== undefined && <Done listed={newest} log={log} />}
        {all.length > 1 && <span class="muted"> · {all.length - 1} before it</span>}
      </summary>
      <ul>
        {all.length > MOST && <li class="muted">… {all.length - MOST} before these</li>}
        {all.slice(-MOST).map((number) => {
          const listed = log.operations[number];
          if (listed === undefined) return null;
          return (
            <li key={number}>
              <Done listed={listed} log={log} />
              {listed.operation.operation === 'TRANSFORM' && arrival !== null && (
                <details>
                  <summary>before: {sizeWords(listed)}</summary>
                  <LongText text={versionBefore(log, arrival, number).content} />
                </details>
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

interface DoneProps {
  readonly listed: ContextLog['operations'][number];
  readonly log: ContextLog;
}

function Done({ listed: { operation, step, phase }, log }: DoneProps) {
  const pruning = log.prunings.get(operation.id)?.pruning;
  // A reason that is about the relevance has its number.
  const relevance = operation.reason?.startsWith('relevance') ? null : (pruning?.relevance ?? null);
  return (
    <>
      <strong>{doneBy(operation)}</strong> {setBy(operation) !== '' && <span class="told">{setBy(operation)} </span>}
      <span class="muted">
        by {phase} in step {step}
      </span>
      : <span class="told">{shortly(operation.reason, 200)}</span>
      {relevance !== null && <span class="muted"> · relevance {rounded(relevance)}</span>}
      {consentOf(operation) !== null && <span class="muted"> · {consentOf(operation)}</span>}
    </>
  );
}
