import type { ConsentChoice, ConsentRequest } from 'postchain';
import { useLayoutEffect, useRef, useState } from 'react';

const LABELS = { keep: 'keep', summarize: 'summarize', remove: 'remove' } as const;
const CHOICES = Object.keys(LABELS) as (keyof typeof LABELS)[];

interface Props {
  readonly request: ConsentRequest;
  readonly onChoice: (choice: ConsentChoice, items?: Record<string, ConsentChoice>) => void;
}

/** Asks once for all messages; each one can be answered separately. Escape keeps everything. */
export function ConsentDialog({ request, onChoice }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const [items, setItems] = useState<Record<string, ConsentChoice>>({});
  const rest = Object.keys(items).length > 0 ? 'the rest' : 'all';

  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    first.current?.focus();
    return () => shown?.close();
  }, []);

  const choose = (id: string, choice: string): void => {
    const { [id]: _, ...others } = items;
    const chosen = CHOICES.find((one) => one === choice);
    setItems(chosen === undefined ? others : { ...others, [id]: chosen });
  };

  return (
    <dialog
      ref={dialog}
      aria-labelledby="consent-title"
      onCancel={(event) => {
        event.preventDefault();
        onChoice('keep');
      }}
    >
      <h2 id="consent-title">May these messages of yours be shortened or removed?</h2>
      <ul className="list">
        {request.items.map(({ messageId, preview, chars, summary }) => (
          <li key={messageId}>
            <p>
              “{preview}” <span className="hint">({chars} characters)</span>
            </p>
            <p className="hint">Summary: {summary}</p>
            <label>
              This one{' '}
              <select value={items[messageId] ?? ''} onChange={(event) => choose(messageId, event.target.value)}>
                <option value="">same as the rest</option>
                {CHOICES.map((choice) => (
                  <option key={choice} value={choice}>
                    {LABELS[choice]}
                  </option>
                ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
      <footer>
        {CHOICES.map((choice) => (
          <button
            key={choice}
            type="button"
            ref={choice === 'keep' ? first : undefined}
            onClick={() => onChoice(choice, items)}
          >
            {LABELS[choice]} {rest}
          </button>
        ))}
      </footer>
    </dialog>
  );
}
