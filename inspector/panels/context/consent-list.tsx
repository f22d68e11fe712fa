import { type Consent, consentsBy } from '../../fold/consents.ts';
import { counted, grouped } from '../../fold/number-words.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';

const GIVEN_BY = {
  user: 'by the user',
  option: 'by an option that was given beforehand',
  nobody: 'by nobody: there was nobody to ask',
  'time-out': 'by the time-out',
} as const;

const MOST = 10;

/** The user was asked about their own messages: what about, and who settled it how. */
export function ConsentList({ inspector, view: { log, fold, at } }: PanelProps) {
  const consents = consentsBy(log, fold.places, at, MOST);
  if (consents.length === 0) return null;
  return (
    <ul class="card consents" aria-label="Consent">
      {consents.map((consent) => (
        <li key={consent.asked}>
          <strong>consent</strong> asked about {counted(consent.request.items.length, 'message')}
          {', '}
          {settled(consent)}{' '}
          <button type="button" class="quiet" onClick={() => inspector.moveTo(consent.asked)}>
            entry {grouped(consent.asked)}
          </button>
          <p class="why told muted">
            {consent.request.items
              .slice(0, 5)
              .map(({ preview, chars }) => `“${shortly(preview, 60)}” (${counted(chars, 'character')})`)
              .join(' · ')}
          </p>
        </li>
      ))}
    </ul>
  );
}

function settled({ resolved }: Consent): string {
  if (resolved === null) return 'not settled yet';
  const { kept, summarised, removed, by } = resolved;
  return `settled ${GIVEN_BY[by]}: ${kept} kept, ${summarised} summarised, ${removed} removed`;
}
