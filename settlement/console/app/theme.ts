// Runs before anything is drawn, so that a page in the chosen colours never flashes in the others.
{
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
