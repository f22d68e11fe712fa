import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** Plants a fault, for the test to find: `?fault=stale-message` or `?fault=first-digit`. */
const fault = new URLSearchParams(location.search).get('fault');

function Checkout() {
  const [state, setState] = useState<'cart' | 'paying' | 'paid'>('cart');
  const [items, setItems] = useState(0);
  const [isDeclined, setDeclined] = useState(false);
  const [text, setText] = useState('1');
  const count = Number(fault === 'first-digit' ? text.slice(0, 1) : text);

  useEffect(() => {
    if (state !== 'paying') return;
    const controller = new AbortController();
    const timer = setTimeout(() => setState('cart'), 5_000);
    fetch('charge', { method: 'POST', signal: controller.signal }).then(
      ({ ok }) => {
        setDeclined(!ok);
        setState(ok ? 'paid' : 'cart');
      },
      () => {},
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [state]);

  function pay() {
    if (fault !== 'stale-message') setDeclined(false);
    setState('paying');
  }

  const isOpen = state === 'cart';
  return (
    <main>
      <h1>Checkout</h1>
      <p role="status">
        {state}, items: {items}
        {isDeclined && ', the card was declined'}
      </p>
      <label>
        Count <input type="number" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button type="button" disabled={!isOpen} onClick={() => setItems(items + count <= 20 ? items + count : items)}>
        Add
      </button>
      <button type="button" disabled={!isOpen} onClick={() => setItems(0)}>
        Empty
      </button>
      <button type="button" disabled={!isOpen || items === 0} onClick={pay}>
        Pay
      </button>
      <button type="button" disabled={state !== 'paying'} onClick={() => setState('cart')}>
        Cancel
      </button>
    </main>
  );
}

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<Checkout />);
