package shop;

public record NewOrder(String number, int quantity) {}
