/// <reference lib="dom" />
import { useChat } from '@ai-sdk/react';
import { WorkflowChatTransport } from '@ai-sdk/workflow/client';
import type { ChatTransport, UIMessage } from 'ai';
import type { ChatData, ChatMetadata } from 'postchain/server';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';

type Message = UIMessage<ChatMetadata, ChatData>;

// The address names the chat, so that a reload continues it.
const isNew = location.hash === '';
if (isNew) location.hash = crypto.randomUUID();
const id = location.hash.slice(1);
const saved: Message[] = JSON.parse(localStorage.getItem(id) ?? '[]');
const workflow = new WorkflowChatTransport({
  prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, messages } }),
});
// A resumed stream starts at the first chunk. The cast is needed because the two packages use different versions of `ai`.
const transport = Object.assign(workflow, { resumeStreamIsReplay: true }) as unknown as ChatTransport<Message>;

function Chat() {
  const chat = useChat({ id, transport, messages: saved, resume: !isNew });
  const { messages, status, error } = chat;
  useEffect(() => localStorage.setItem(id, JSON.stringify(messages)), [messages]);
  window.ononline = () => void chat.resumeStream();
  const send = (form: FormData) => void chat.sendMessage({ text: `${form.get('text')}` });
  return (
    <form action={send}>
      {messages.map(({ id, role, parts, metadata }) => (
        <section key={id}>
          <strong>{role}</strong>
          {parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended
            <Part key={at} runId={id} part={part} />
          ))}
          <small>{metadata?.notes}</small>
        </section>
      ))}
      <input name="text" aria-label="Your message" placeholder="When is shipping free?" required />
      <p role="status">{error?.message ?? status}</p>
    </form>
  );
}

function Part({ runId, part }: { runId: string; part: Message['parts'][number] }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type !== 'data-question' || part.data.closed || part.data.kind !== 'approval') return null;
  const { questionId, digest, capability, arguments: given } = part.data;
  const answer = (decision: 'approve' | 'deny') => () =>
    fetch(`/runs/${encodeURIComponent(runId)}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'approval.given', questionId, digest, decision }),
    });
  return (
    <p>
      {`${capability} ${JSON.stringify(given)} `}
      <button type="button" onClick={answer('approve')}>
        Approve
      </button>
      <button type="button" onClick={answer('deny')}>
        Deny
      </button>
    </p>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />);
