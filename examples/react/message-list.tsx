import type { Message } from 'postchain';

const NAMES: Readonly<Record<Message['role'], string>> = { user: 'You', assistant: 'Chain', search: 'Found' };

/** The current context: messages that Understanding removed are gone, and summarized ones are short. */
export function MessageList({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <section aria-labelledby="messages-title">
      <h2 id="messages-title">Messages</h2>
      <ol className="messages list">
        {messages.map(({ id, role, phase, content }) => (
          <li key={id} data-role={role}>
            <span className="who">{phase === null ? NAMES[role] : `${NAMES[role]}, ${phase}`}</span>
            <p>{content}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
