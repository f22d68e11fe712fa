import { useEffect, useState } from 'preact/hooks';
import type { ConsentChoice, ConsentRequest } from '../../../machines/contracts/context.ts';
import { formatDecimal, formatNumber, pluralize } from '../../fold/format.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import type { Waiting } from '../../fold/user-events.ts';
import { LongText } from '../long-text.tsx';
import { DirectForm, type EventFormProps, SendButton } from './event-forms.tsx';

interface WaitingProps extends EventFormProps {
  readonly waiting: Waiting;
  /** When the run stops waiting, as milliseconds since 1970; null if that is unknown. */
  readonly keepsAtMs: number | null;
}

function Countdown({ toMs }: { readonly toMs: number }) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((toMs - nowMs) / 1_000);
  return seconds > 0 ? (
    <>
      {' '}
      in <b role="timer">{seconds} s</b>
    </>
  ) : null;
}

export function WaitingForUser({ waiting, keepsAtMs, isBusy, onSend }: WaitingProps) {
  if (waiting.for === 'consent')
    return (
      <section class="card waiting" aria-label="The run is waiting for consent">
        <h2>The run is waiting for consent (entry {formatNumber(waiting.askedAt)})</h2>
        <p>
          May the run shorten or remove {pluralize(waiting.request.items.length, 'message')}? If nobody answers, it
          keeps all of them{keepsAtMs !== null && <Countdown key={waiting.askedAt} toMs={keepsAtMs} />}.
        </p>
        <ConsentForm key={waiting.askedAt} {...waiting} isBusy={isBusy} onSend={onSend} />
      </section>
    );
  const { askedAt, questionId, proposal, answer, confidence, rejected } = waiting;
  return (
    <section class="card waiting" aria-label="The run is waiting for a direction">
      <h2>The run is waiting for a direction (entry {formatNumber(askedAt)})</h2>
      <p class="muted">Answer so far, with confidence {formatDecimal(confidence)}:</p>
      <LongText text={answer} />
      {rejected !== null && (
        <p class="wrong" role="alert">
          <span class="verbatim">“{excerpt(rejected, 80)}”</span> was rejected: not a phase.
        </p>
      )}
      <DirectForm key={askedAt} questionId={questionId} proposal={proposal} isBusy={isBusy} onSend={onSend} />
    </section>
  );
}

interface ConsentFormProps extends EventFormProps {
  readonly questionId: string;
  readonly request: ConsentRequest;
}

type Items = Readonly<Record<string, ConsentChoice>>;

const WORDS: Readonly<Record<ConsentChoice, string>> = { keep: 'Keep', summarize: 'Summarize', remove: 'Remove' };

/** `consent.given`: one choice for all messages, which a message can override. Offers summaries only if there are some. */
function ConsentForm({ questionId, request, isBusy, onSend }: ConsentFormProps) {
  const [items, setItems] = useState<Items>({});
  const isOwn = Object.keys(items).length > 0;
  const some = request.items.some(({ summary }) => summary !== '');
  const offered: readonly ConsentChoice[] = some ? ['keep', 'summarize', 'remove'] : ['keep', 'remove'];

  function choose(messageId: string, choice: string): void {
    const { [messageId]: _, ...others } = items;
    const selected = offered.find((one) => one === choice);
    setItems(selected === undefined ? others : { ...others, [messageId]: selected });
  }

  return (
    <form class="consent" aria-label="Consent" onSubmit={(submitted) => submitted.preventDefault()}>
      <ul class="lined">
        {request.items.map(({ messageId, role, preview, chars, summary, reason }) => (
          <li key={messageId}>
            <p>
              <span class="verbatim">“{revealHidden(preview)}”</span>{' '}
              <span class="muted">
                {role}, {pluralize(chars, 'character')}: {revealHidden(reason)}
              </span>
            </p>
            {summary !== '' && (
              <div class="summary">
                <span class="muted">Summary, {pluralize(summary.length, 'character')}:</span>{' '}
                <LongText text={summary} />
              </div>
            )}
            <label>
              This message{' '}
              <select
                value={items[messageId] ?? ''}
                onChange={({ currentTarget }) => choose(messageId, currentTarget.value)}
              >
                <option value="">same as the rest</option>
                {offered
                  .filter((choice) => choice !== 'summarize' || summary !== '')
                  .map((choice) => (
                    <option key={choice} value={choice}>
                      {WORDS[choice].toLowerCase()}
                    </option>
                  ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
      <div class="row">
        {offered.map((choice) => (
          <SendButton
            key={choice}
            isBusy={isBusy}
            onSend={() => void onSend({ type: 'consent.given', questionId, choice, ...(isOwn && { items }) })}
          >
            {WORDS[choice]} {isOwn ? 'the rest' : 'all'}
          </SendButton>
        ))}
      </div>
    </form>
  );
}
