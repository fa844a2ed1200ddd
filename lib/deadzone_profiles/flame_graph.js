// Zoom of a flame graph: a click on a box makes it as wide as the picture; a click on the lowest shows all.
(function () {
  var letter = 6.6, margin = 12, fewest = 3;
  document.querySelectorAll("svg.deadzone-flame:not([data-zoom])").forEach(function (svg) {
    svg.setAttribute("data-zoom", "yes");
    var full = svg.viewBox.baseVal.width - 2 * margin;
    var boxes = Array.prototype.slice.call(svg.querySelectorAll("g.box"));
    function number(box, name) { return parseFloat(box.getAttribute("data-" + name)); }
    function place(box, x, width) {
      var rect = box.querySelector("rect"), text = box.querySelector("text");
      rect.setAttribute("x", x);
      rect.setAttribute("width", Math.max(width - 0.5, 0.3));
      text.setAttribute("x", x + 3);
      var label = text.getAttribute("data-full"), letters = Math.floor((width - 6) / letter);
      if (label.length > letters) { label = text.getAttribute("data-short") || label; }
      text.textContent = letters < fewest ? "" : label.length <= letters ? label : label.slice(0, letters - 2) + "..";
    }
    function zoom(target) {
      var left = number(target, "x"), width = number(target, "w"), level = number(target, "level");
      boxes.forEach(function (box) {
        var x = number(box, "x"), w = number(box, "w"), below = number(box, "level") <= level;
        var around = below && x <= left + 0.01 && x + w >= left + width - 0.01;
        var inside = !below && x >= left - 0.01 && x + w <= left + width + 0.01;
        box.style.display = around || inside ? "" : "none";
        if (around) { place(box, margin, full); }
        if (inside) { place(box, margin + (x - left) / width * full, w / width * full); }
      });
    }
    boxes.forEach(function (box) {
      box.style.cursor = "pointer";
      box.addEventListener("click", function () { zoom(box); });
    });
  });
})();
