import { useChat } from '@ai-sdk/react';
import { WorkflowChatTransport } from '@ai-sdk/workflow/client';
import type { ChatTransport, UIMessage } from 'ai';
import type { ChatData, ChatMetadata } from 'postchain/server';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';

type Message = UIMessage<ChatMetadata, ChatData>;

const isNew = location.hash === '';
if (isNew) location.hash = crypto.randomUUID();
const id = location.hash.slice(1);
const saved: Message[] = JSON.parse(localStorage.getItem(id) ?? '[]');
const workflow = new WorkflowChatTransport({
  prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, messages } }),
});
// A resumed stream starts at the first chunk. The cast is needed if the two packages use different versions of `ai`.
const transport = Object.assign(workflow, { resumeStreamIsReplay: true }) as unknown as ChatTransport<Message>;

function Chat() {
  const chat = useChat({ id, transport, messages: saved, resume: !isNew });
  const { messages, status, error } = chat;
  useEffect(() => localStorage.setItem(id, JSON.stringify(messages)), [messages]);
  window.ononline = () => void chat.resumeStream();
  const send = (form: FormData) => void chat.sendMessage({ text: `${form.get('text')}` });
  return (
    <form action={send}>
      {messages.flatMap(({ id, parts }) => {
        // The answer repeats its draft.
        const isAnswered = parts.some(({ type }) => type === 'text');
        const isShown = (part: Message['parts'][number]) => !(isAnswered && isDraft(part));
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended
        return parts.map((part, at) => isShown(part) && <Part key={`${id} ${at}`} runId={id} part={part} />);
      })}
      <input name="text" aria-label="Your message" required />
      <p role="status">{error?.message ?? status}</p>
    </form>
  );
}

function isDraft(part: Message['parts'][number]): boolean {
  return part.type === 'reasoning' && part.providerMetadata?.['postchain']?.['draft'] === true;
}

function Part({ runId, part }: { runId: string; part: Message['parts'][number] }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <pre>{part.text}</pre>;
  if (part.type !== 'data-question' || part.data.closed || part.data.kind !== 'approval') return null;
  const { questionId, digest, capability, arguments: given } = part.data;
  const approve = () =>
    fetch(`/runs/${encodeURIComponent(runId)}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'approval.given', questionId, digest, decision: 'approve' }),
    });
  return (
    <button type="button" onClick={approve}>
      {`Approve ${capability} ${JSON.stringify(given)}`}
    </button>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />);
