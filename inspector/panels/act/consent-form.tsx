import { useState } from 'preact/hooks';
import type { ConsentChoice, ConsentRequest } from '../../../machines/contracts/consent.ts';
import { counted } from '../../fold/number-words.ts';
import { visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { SendButton } from './send-button.tsx';

interface ConsentFormProps {
  readonly request: ConsentRequest;
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

type Items = Readonly<Record<string, ConsentChoice>>;

const WORDS: Readonly<Record<ConsentChoice, string>> = { keep: 'Keep', summarise: 'Summarise', remove: 'Remove' };

/** Asks once for all messages, with a word of its own for any of them. A summary is offered where there is one. */
export function ConsentForm({ request, isBusy, onSend }: ConsentFormProps) {
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
