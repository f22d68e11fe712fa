import { useState } from 'preact/hooks';
import type { ConsentChoice, ConsentRequest } from '../../../machines/contracts/context.ts';
import { counted, grouped, rounded } from '../../fold/number-words.ts';
import type { Waiting } from '../../fold/waiting-at.ts';
import { shortly, visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { DirectForm } from './direct-form.tsx';
import { SendButton } from './send-button.tsx';

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

interface ConsentFormProps {
  readonly request: ConsentRequest;
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

type Items = Readonly<Record<string, ConsentChoice>>;

const WORDS: Readonly<Record<ConsentChoice, string>> = { keep: 'Keep', summarise: 'Summarise', remove: 'Remove' };

/** Asks once for all messages, with a word of its own for any of them. A summary is offered where there is one. */
function ConsentForm({ request, isBusy, onSend }: ConsentFormProps) {
  const [items, setItems] = useState<Items>({});
  const isOwn = Object.keys(items).length > 0;
  const some = request.items.some(({ summary }) => summary !== '');
  const offered: readonly ConsentChoice[] = some ? ['keep', 'summarise', 'remove'] : ['keep', 'remove'];

  function choose(messageId: string, choice: string): void {
    const { [messageId]: _, ...others } = items;
    const chosen = offered.find((one) => one === choice);
    setItems(chosen === undefined ? others : { ...others, [messageId]: chosen });
  }

  return (
    <form class="consent" aria-label="Consent" onSubmit={(submitted) => submitted.preventDefault()}>
      <ul>
        {request.items.map(({ messageId, preview, chars, summary }) => (
          <li key={messageId}>
            <p>
              <span class="told">“{visible(preview)}”</span> <span class="muted">{counted(chars, 'character')}</span>
            </p>
            {summary !== '' && (
              <div class="summary">
                <span class="muted">Its summary, {counted(summary.length, 'character')}:</span>{' '}
                <LongText text={summary} />
              </div>
            )}
            <label>
              This one{' '}
              <select
                value={items[messageId] ?? ''}
                onChange={({ currentTarget }) => choose(messageId, currentTarget.value)}
              >
                <option value="">like the rest</option>
                {offered
                  .filter((choice) => choice !== 'summarise' || summary !== '')
                  .map((choice) => (
                    <option key={choice}>{choice}</option>
                  ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
      <div class="buttons">
        {offered.map((choice) => (
          <SendButton
            key={choice}
            isBusy={isBusy}
            onSend={() => void onSend({ type: 'consent.given', choice, ...(isOwn && { items }) })}
          >
            {WORDS[choice]} {isOwn ? 'the rest' : 'all'}
          </SendButton>
        ))}
      </div>
    </form>
  );
}
