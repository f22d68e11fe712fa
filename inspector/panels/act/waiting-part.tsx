import { counted, grouped, rounded } from '../../fold/number-words.ts';
import type { Waiting } from '../../fold/waiting-at.ts';
import { shortly } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { ConsentForm } from './consent-form.tsx';
import { DirectForm } from './direct-form.tsx';

interface WaitingPartProps {
  readonly waiting: Waiting;
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

/** What the run waits for, and what can be said to it. */
export function WaitingPart({ waiting, isBusy, onSend }: WaitingPartProps) {
  if (waiting.for === 'consent')
    return (
      <section class="card waiting" aria-label="The run waits for consent">
        <h2>The run waits for consent (entry {grouped(waiting.asked)})</h2>
        <p>
          May {counted(waiting.request.items.length, 'message')} of the user’s be shortened or removed? Without an
          answer in time everything is kept.
        </p>
        <ConsentForm key={waiting.asked} request={waiting.request} isBusy={isBusy} onSend={onSend} />
      </section>
    );
  const { asked, proposal, answer, confidence, refused } = waiting;
  return (
    <section class="card waiting" aria-label="The run waits for a direction">
      <h2>The run waits for a direction (entry {grouped(asked)})</h2>
      <p class="muted">Its answer so far, of confidence {rounded(confidence)}:</p>
      <LongText text={answer} />
      {refused !== null && (
        <p class="wrong" role="alert">
          <span class="told">“{shortly(refused, 80)}”</span> was refused: it is no phase.
        </p>
      )}
      <DirectForm key={asked} proposal={proposal} isBusy={isBusy} onSend={onSend} />
    </section>
  );
}
