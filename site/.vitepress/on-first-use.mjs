/**
 * Runs in a page before its app. Imports the app when the reader first uses the page, so that showing it takes no script.
 * A click or a hotkey before the app has mounted would be lost. It is dispatched again then.
 */
export function onFirstUse(app) {
  const uses = ['pointermove', 'pointerdown', 'keydown', 'click'];
  const { pathname } = location;
  let early;
  function load() {
    for (const use of uses) removeEventListener(use, load, true);
    import(app);
  }
  function keep(event) {
    const { type, key, ctrlKey, metaKey, target } = event;
    const isHotkey = key === '/' || (key === 'k' && (ctrlKey || metaKey));
    if (type === 'click' ? target.closest('button, [role=button]') === null : !isHotkey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    early = event;
  }
  // A page that the app has left without a request is not in this document.
  const leave = () => location.pathname === pathname || location.reload();
  function mounted() {
    removeEventListener('click', keep, true);
    removeEventListener('keydown', keep, true);
    removeEventListener('popstate', leave);
    early?.target.dispatchEvent(new early.constructor(early.type, early));
  }
  for (const use of uses) addEventListener(use, load, true);
  addEventListener('click', keep, true);
  addEventListener('keydown', keep, true);
  addEventListener('popstate', leave);
  addEventListener('app-mounted', mounted, { once: true });
}
