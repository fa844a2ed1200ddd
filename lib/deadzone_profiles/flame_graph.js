// Zoom of a flame graph: a click on a box makes it as wide as the picture; a click on the lowest shows all.
(function () {
  var margin = 12;
  document.querySelectorAll("svg.deadzone-flame:not([data-zoom])").forEach(function (svg) {
    svg.setAttribute("data-zoom", "yes");
    var full = svg.viewBox.baseVal.width - 2 * margin;
    var boxes = Array.prototype.slice.call(svg.querySelectorAll("g.box"));
    function number(box, name) { return parseFloat(box.getAttribute("data-" + name)); }
    function place(box, x, width) {
      box.querySelectorAll("rect, svg").forEach(function (part) {
        part.setAttribute("x", x);
        part.setAttribute("width", Math.max(width - 0.5, 0.3));
      });
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
