// Hides the cards of the index that lack a word that is searched for; without a script all are shown.
(() => {
  const cards = [...document.querySelectorAll(".dz-card")], box = document.querySelector(".dz-find");
  box.hidden = cards.length < 2;
  box.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const card of cards) {
      card.hidden = !words.every((word) => card.textContent.toLowerCase().includes(word));
    }
  });
})();
