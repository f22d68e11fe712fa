import type { ConsentChoice, ConsentRequest } from 'postchain';
import { useLayoutEffect, useRef, useState } from 'react';

const CHOICES: readonly ConsentChoice[] = ['keep', 'summarise', 'remove'];

interface Props {
  readonly request: ConsentRequest;
  readonly onChoice: (choice: ConsentChoice, items?: Record<string, ConsentChoice>) => void;
}

/** Asks once for all messages, with a word of its own for any of them. Escape keeps everything. */
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
            <p className="hint">Summarised: {summary}</p>
            <label>
              This one{' '}
              <select value={items[messageId] ?? ''} onChange={(event) => choose(messageId, event.target.value)}>
                <option value="">like the rest</option>
                {CHOICES.map((choice) => (
                  <option key={choice}>{choice}</option>
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
            {choice} {rest}
          </button>
        ))}
      </footer>
    </dialog>
  );
}
