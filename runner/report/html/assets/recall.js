/* Recall at the k that is pointed at or chosen with the slider: a line through the plots, and the values. */
document.querySelectorAll(".readout").forEach((readout) => {
  const place = readout.closest("[data-scope]"), slider = readout.querySelector("input");
  const curves = data.curves[place.dataset.scope], depth = Number(slider.max);
  const show = (k) => {
    slider.value = k;
    readout.querySelector("output").textContent = k;
    readout.querySelectorAll(".k").forEach((span) => { span.textContent = k; });
    readout.querySelectorAll("tr[data-arm]").forEach((row) => {
      const curve = curves[row.dataset.arm];
      row.querySelectorAll("td[data-family]").forEach((cell) => {
        cell.textContent = curve ? curve[cell.dataset.family][k - 1].toFixed(1) : "–";
      });
    });
    place.querySelectorAll(".cursor").forEach((line) => {
      const x = depth > 1 ? `${(100 * Math.log(k)) / Math.log(depth)}%` : "50%";
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.style.visibility = "visible";
    });
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  place.querySelectorAll("svg.recall").forEach((plot) => {
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
      show(Math.min(depth, Math.max(1, Math.round(depth ** share))));
    });
  });
  show(Number(slider.value));
});
