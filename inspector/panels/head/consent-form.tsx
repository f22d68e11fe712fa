import { useState } from 'preact/hooks';
import type { ConsentChoice, ConsentRequest } from '../../../machines/contracts/context.ts';
import { recommendedChoice } from '../../../machines/policies/questions.ts';
import { pluralize } from '../../fold/format.ts';
import { revealHidden } from '../../fold/text.ts';
import { LongText } from '../long-text.tsx';
import { type EventFormProps, SendButton } from './event-forms.tsx';

interface ConsentFormProps extends EventFormProps {
  readonly questionId: string;
  readonly request: ConsentRequest;
}

const WORDS: Readonly<Record<ConsentChoice, string>> = { keep: 'Keep', summarize: 'Summarize', remove: 'Remove' };

/** `consent.given`: one choice for all messages, which a message can override. Offers summaries only if there are some. */
export function ConsentForm({ questionId, request, isBusy, onSend }: ConsentFormProps) {
  const [items, setItems] = useState<Readonly<Record<string, ConsentChoice>>>({});
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
        {request.items.map((item) => (
          <li key={item.messageId}>
            <p>
              <span class="verbatim">“{revealHidden(item.preview)}”</span>{' '}
              <span class="muted">
                {item.role}, {pluralize(item.chars, 'character')}: {revealHidden(item.reason)}
              </span>
            </p>
            {item.summary !== '' && (
              <p>
                <span class="muted">Summary, {pluralize(item.summary.length, 'character')}:</span>{' '}
                <LongText text={item.summary} chars={200} />
              </p>
            )}
            <label>
              This message{' '}
              <select
                value={items[item.messageId] ?? ''}
                onChange={({ currentTarget }) => choose(item.messageId, currentTarget.value)}
              >
                <option value="">same as the rest</option>
                {offered
                  .filter((choice) => choice !== 'summarize' || item.summary !== '')
                  .map((choice) => (
                    <option key={choice} value={choice}>
                      {WORDS[choice].toLowerCase()}
                      {choice === recommendedChoice(item) && ' (recommended)'}
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
            isPrimary={choice === 'keep'}
            onSend={() => void onSend({ type: 'consent.given', questionId, choice, ...(isOwn && { items }) })}
          >
            {WORDS[choice]} {isOwn ? 'the rest' : 'all'}
          </SendButton>
        ))}
      </div>
    </form>
  );
}
